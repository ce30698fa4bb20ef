#include "vm/runtime/dispatch/host_runner.h"

#include <algorithm>
#include <utility>

namespace ember::vm {
namespace {

// Returns the shortest time in nanoseconds that the trial has noted for a call
// with the kernel or, if `kernel` is null, for a call at tier 0 (the
// interpreter).
int64_t BestTime(const KernelTrial& trial, const Kernel* kernel) {
  return kernel != nullptr ? trial.compiled_ns() : trial.interpreted_ns();
}

}  // namespace

HostDispatchRunner::HostDispatchRunner(const DispatchContext& context,
                                       Tiering& tiering)
    : TieredDispatchRunner(context, &tiering) {
  if (!context.options.side_by_side || is_profiled_ ||
      context.runner.worker_count() <= 1)
    return;
  side_by_side_ = std::make_unique<SideBySide>(context.runner, sites_.size(),
                                               context.options.clock);
  keeps_calls_ = true;
}

void HostDispatchRunner::Prepare() {
  TieredDispatchRunner::Prepare();
  if (tiering().preparation() != nullptr) {
    tiering().preparation()(context_.module, tiering(), context_.runner,
                            *context_.memory.pool());
  }
}

void HostDispatchRunner::StartRun() {
  account_.StartRun();
  if (side_by_side_ == nullptr) return;
  side_by_side_->StartRun(!side_by_side_->is_waiting() ||
                          (has_run_ && HasAllKernels()));
  has_run_ = true;
}

Status HostDispatchRunner::EndRun() {
  if (side_by_side_ == nullptr) return OkStatus();
  // Calls that were kept to run concurrently are executed here. If one of them
  // fails, its error is returned rather than that of the program, because the
  // call came earlier.
  Status kept = side_by_side_->Synchronize();
  side_by_side_->EndRun();
  // If it is decided that no calls run concurrently, later runs keep no calls.
  // They then need not look for kept calls before each instruction.
  if (side_by_side_->is_decided() && side_by_side_->batch_count() == 0) {
    side_by_side_.reset();
    keeps_calls_ = false;
  }
  return kept;
}

bool HostDispatchRunner::IsSettled() const {
  return HasAllKernels() &&
         (side_by_side_ == nullptr || side_by_side_->is_decided());
}

bool HostDispatchRunner::HasAllKernels() const {
  return std::ranges::all_of(sites_, [](const SiteState& site) {
    return site.entry == nullptr || site.entry->is_settled;
  });
}

int HostDispatchRunner::TierFor(const SiteState& site) const {
  return tiering().NextTier(site.group, site.entry->parameters,
                            site.entry->calls, site.entry->requested_tier);
}

Status HostDispatchRunner::RunCall(SiteState& site,
                                   const MemoryReference* buffers) {
  const PlanEntry& entry = *site.entry;
  if (entry.is_settled && site.slot->kernels() == entry.seen)
    return RunSettled(site);
  EMBER_RETURN_IF_ERROR(Synchronize());
  return RunObserved(site);
}

Status HostDispatchRunner::RunSettled(SiteState& site) {
  const PlanEntry& entry = *site.entry;
  if (account_.is_open()) {
    account_.AddCall(entry.trial.interpreted_ns(),
                     BestTime(entry.trial, entry.kernel));
  }
  if (side_by_side_ == nullptr) return RunWith(site, entry.kernel);
  if (entry.kernel == nullptr) {
    EMBER_RETURN_IF_ERROR(side_by_side_->Synchronize());
    return RunWith(site, nullptr);
  }
  ++site.kernel_calls[entry.kernel_tier - 1];
  return side_by_side_->Call(
      site.number,
      {entry.parameters, PointersOf(site), context_.runner, entry.points,
       context_.memory.pool().get()},
      *entry.kernel, entry.required_bytes, site.input_count);
}

Status HostDispatchRunner::RunObserved(SiteState& site) {
  const PlanEntry& entry = *site.entry;
  UpdateKernel(site);
  const CheckTime check = WhenToCheck(site);
  if (check == CheckTime::kNow) return RunChecked(site);
  const Kernel* kernel = nullptr;
  if (check == CheckTime::kNever && !StaysInterpreted(entry))
    kernel = entry.kernel;
  const int64_t begin = context_.options.clock();
  Status status = RunWith(site, kernel);
  const int64_t end = context_.options.clock();
  NoteCall(site, kernel != nullptr ? entry.kernel_tier : 0, begin, end);
  if (status.ok()) {
    tiering().Count(site.group, end - begin);
    UpdateTrial(site, kernel, end - begin);
  }
  return status;
}

// True if the kernel is used without comparing its times with tier 0's. Also
// true for null, which is tier 0.
bool HostDispatchRunner::IsKept(const Kernel* kernel) const {
  return kernel == nullptr || kernel->is_settled() ||
         tiering().options().keeps_slow_kernels;
}

bool HostDispatchRunner::StaysInterpreted(const PlanEntry& entry) const {
  if (IsKept(entry.kernel)) return false;
  return entry.trial.verdict() == KernelTrial::Verdict::kOpen &&
         (entry.trial.WantsInterpreter() || account_.has_lost_enough());
}

void HostDispatchRunner::UpdateTrial(SiteState& site, const Kernel* used,
                                     int64_t ns) {
  PlanEntry& entry = *site.entry;
  KernelTrial& trial = entry.trial;
  if (used == nullptr) {
    trial.AddInterpreted(ns);
  } else {
    trial.AddCompiled(ns);
  }
  // A call at tier 0 is counted with the best time of tier 0, not with its real
  // time, because the difference is not a loss that trials cause.
  account_.AddCall(trial.interpreted_ns(),
                   used == nullptr ? trial.interpreted_ns() : ns);
  account_.NoteMeasured();
  if (!IsKept(entry.kernel)) {
    const KernelTrial::Verdict verdict = trial.verdict();
    if (verdict == KernelTrial::Verdict::kSlower) {
      site.slot->SetAside({entry.kernel, entry.parameters, trial.compiled_ns(),
                           trial.interpreted_ns()});
    }
    if (verdict != KernelTrial::Verdict::kKeep) return;
  }
  entry.is_settled = !is_profiled_ && entry.is_checked &&
                     entry.requested_tier >= tiering().options().max_tier &&
                     !site.slot->is_pending();
  if (entry.is_settled && entry.kernel != nullptr) entry.plan.reset();
}

}  // namespace ember::vm
