// How a session runs dispatches: plans, kernels, counters.
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "base/concat.h"
#include "vm/isa/limits.h"
#include "vm/runtime/executor.h"

namespace ember::vm {
namespace {

// Of a call with the kernel; null: at tier 0.
int64_t BestTime(const KernelTrial& trial, const Kernel* kernel) {
  return kernel != nullptr ? trial.compiled_ns() : trial.interpreted_ns();
}

}  // namespace

void Executor::Trace(const SiteState& site, int64_t begin, int64_t end) {
  if (thread_ == 0)
    thread_ = std::hash<std::thread::id>()(std::this_thread::get_id());
  trace_.push_back({site.number, begin, end, thread_});
}

void Executor::CountShape(SiteState& site, int64_t ns) {
  const std::vector<int64_t>& parameters = site.entry->parameters;
  auto shape = std::ranges::find(site.shapes, parameters,
                                 &DispatchProfile::Shape::parameters);
  if (shape == site.shapes.end()) {
    // Of models that meet more, none is worth a kernel of its own.
    if (site.shapes.size() >= kMaxProfileShapes) return;
    shape = site.shapes.insert(shape, {parameters, 0, 0});
  }
  ++shape->calls;
  shape->ns += ns;
}

bool Executor::HasPlan(const SiteState& site) const {
  if (site.entry == nullptr) return false;
  const int64_t* expected = site.entry->parameters.data();
  for (uint32_t i = 0; i < site.parameter_count; ++i) {
    if (integers_[site.operands[i]] != expected[i]) return false;
  }
  return true;
}

Status Executor::FindPlan(SiteState& site) {
  for (uint32_t i = 0; i < site.parameter_count; ++i) {
    parameters_[i] = integers_[site.operands[i]];
  }
  const std::span<const int64_t> parameters(parameters_.data(),
                                            site.parameter_count);
  const bool has_kernels =
      site.slot != nullptr && site.slot->kernels() != nullptr;
  EMBER_ASSIGN_OR_RETURN(site.entry, caches_[site.group]->Get(
                                         parameters, work_left_, !has_kernels));
  return OkStatus();
}

void Executor::PrepareSites() {
  for (SiteState& site : sites_) {
    if (site.parameter_count > 0 || site.slot == nullptr ||
        site.slot->kernels() == nullptr)
      continue;
    StatusOr<PlanEntry*> entry =
        caches_[site.group]->Get({}, INT64_MAX, /*is_run=*/false);
    if (entry.ok()) site.entry = *entry;
  }
}

Status Executor::RunSite(SiteState& site) {
  if (interrupt_.ShouldStop()) return interrupt_.status();
  if (!HasPlan(site)) {
    // Another plan's parameters may be those of a call that is kept.
    if (side_by_side_ != nullptr)
      EMBER_RETURN_IF_ERROR(side_by_side_->Synchronize());
    EMBER_RETURN_IF_ERROR(FindPlan(site));
  }
  PlanEntry& entry = *site.entry;
  const uint32_t* registers = site.operands + site.parameter_count;
  const int64_t* required = entry.required_bytes.data();
  for (uint32_t i = 0; i < site.buffer_count; ++i) {
    const MemoryReference& memory = buffers_[registers[i]];
    if (memory.length < required[i]) return BufferTooSmall(site, i);
    pointers_[i] = memory.data;
  }
  EMBER_RETURN_IF_ERROR(CheckOverlaps(site));
  work_left_ -= entry.points;
  if (work_left_ < 0) return WorkError(site);
  if (tracks_writes_) EMBER_RETURN_IF_ERROR(TrackSite(site));
  ++site.calls;
  if (!observed_)
    return entry.plan->Run({pointers_.data(), site.buffer_count}, runner_);
  if (!entry.is_settled || site.slot->kernels() != entry.seen) {
    if (side_by_side_ != nullptr)
      EMBER_RETURN_IF_ERROR(side_by_side_->Synchronize());
    return RunObserved(site);
  }
  if (accounts_) {
    const int64_t best = BestTime(entry.trial, entry.kernel);
    Account(entry.trial, best);
  }
  if (side_by_side_ == nullptr) return RunWith(site, entry.kernel);
  if (entry.kernel == nullptr) {
    EMBER_RETURN_IF_ERROR(side_by_side_->Synchronize());
    return RunWith(site, nullptr);
  }
  ++site.kernel_calls[entry.kernel_tier - 1];
  return side_by_side_->Call(site.number,
                             {entry.parameters,
                              {pointers_.data(), site.buffer_count},
                              runner_,
                              entry.points,
                              pool_.get()},
                             *entry.kernel, entry.required_bytes,
                             site.input_count);
}

Status Executor::BufferTooSmall(const SiteState& site, uint32_t buffer) const {
  const tensor::Dispatch& dispatch =
      module_->definition().dispatches[site.dispatch];
  const uint32_t reg = site.operands[site.parameter_count + buffer];
  return ErrorAt(site.instruction,
                 Concat({"dispatch @", dispatch.name, ": buffer '",
                         dispatch.buffers[buffer].name, "': expected at least ",
                         site.entry->required_bytes[buffer], " bytes, found ",
                         buffers_[reg].length}));
}

Status Executor::RunWith(SiteState& site, const Kernel* kernel) {
  const std::span<void* const> pointers(pointers_.data(), site.buffer_count);
  if (kernel == nullptr) {
    // No kernel was for these parameters, or it was withdrawn.
    if (site.entry->plan == nullptr)
      EMBER_RETURN_IF_ERROR(caches_[site.group]->Restore(*site.entry));
    return site.entry->plan->Run(pointers, runner_);
  }
  ++site.kernel_calls[site.entry->kernel_tier - 1];
  EMBER_RETURN_IF_ERROR(kernel->Run({site.entry->parameters, pointers, runner_,
                                     site.entry->points, pool_.get()}));
  return interrupt_.ShouldStop() ? interrupt_.status() : OkStatus();
}

Status Executor::RunObserved(SiteState& site) {
  if (device_ != nullptr) return RunOnDevice(site);
  PlanEntry& entry = *site.entry;
  const Kernel* kernel = nullptr;
  if (site.slot != nullptr) {
    // Before the run, so that a provider which compiles at once serves it.
    RequestKernels(site);
    if (site.slot->kernels() != entry.seen) ChooseKernel(site);
    const CheckTime check = WhenToCheck(site);
    if (check == CheckTime::kNow) return RunChecked(site);
    if (check == CheckTime::kNever && !StaysInterpreted(entry))
      kernel = entry.kernel;
  }
  const int64_t begin = options_.clock();
  Status status = RunWith(site, kernel);
  const int64_t end = options_.clock();
  site.total_ns += end - begin;
  if (options_.profile) CountShape(site, end - begin);
  site.last_tier = kernel != nullptr ? entry.kernel_tier : 0;
  ++entry.calls;
  if (site.slot != nullptr && status.ok()) {
    options_.tiering->Count(site.group, end - begin);
    UpdateTrial(site, kernel, end - begin);
  }
  if (options_.trace) Trace(site, begin, end);
  return status;
}

void Executor::RequestKernels(const SiteState& site) {
  PlanEntry& entry = *site.entry;
  Tiering& tiering = *options_.tiering;
  if (entry.calls == 0) site.slot->NoteShape(entry.parameters);
  // Nobody is served by half a model elsewhere while kernels are made.
  const Tiering::Options& options = tiering.options();
  if (!tiering.has_provider()) {
    entry.requested_tier = options.max_tier;
    return;
  }
  const int tier = device_ == nullptr
                       ? tiering.NextTier(site.group, entry.parameters,
                                          entry.calls, entry.requested_tier)
                       : std::min(options.max_tier, 2);
  if (tier == entry.requested_tier) return;
  entry.requested_tier = tier;
  const std::span<const int64_t> parameters =
      tier >= 2 ? std::span<const int64_t>(entry.parameters)
                : std::span<const int64_t>();
  tiering.Request(site.group, tier, parameters, options_.device->target());
}

void Executor::ChooseKernel(SiteState& site) {
  PlanEntry& entry = *site.entry;
  entry.seen = site.slot->kernels();
  entry.is_settled = false;
  const Kernel* kernel =
      entry.seen->Best(entry.parameters, options_.tiering->options().max_tier);
  if (kernel != entry.kernel) UseKernel(entry, kernel);
}

void Executor::UseKernel(PlanEntry& entry, const Kernel* kernel) {
  entry.kernel = kernel;
  entry.kernel_tier = kernel == nullptr ? 0 : std::clamp(kernel->tier(), 1, 2);
  entry.is_checked = kernel == nullptr || kernel->is_settled() ||
                     options_.tiering->judge() == nullptr;
  entry.checks = 0;
  entry.trial.Restart();
}

// Whether the kernel is used without a trial.
bool Executor::IsKept(const Kernel* kernel) const {
  return kernel == nullptr || kernel->is_settled() ||
         options_.tiering->options().keeps_slow_kernels;
}

bool Executor::StaysInterpreted(const PlanEntry& entry) const {
  if (IsKept(entry.kernel)) return false;
  return entry.trial.verdict() == KernelTrial::Verdict::kOpen &&
         (entry.trial.WantsInterpreter() || lost_ns_ > may_lose_ns_);
}

void Executor::Account(const KernelTrial& trial, int64_t ns) {
  interpreted_ns_ += trial.interpreted_ns();
  if (trial.interpreted_ns() > 0) lost_ns_ += ns - trial.interpreted_ns();
}

void Executor::StartAccount() {
  constexpr int64_t kMayLose = 32;  // one of so many nanoseconds
  if (interpreted_ns_ > 0) may_lose_ns_ = interpreted_ns_ / kMayLose;
  interpreted_ns_ = lost_ns_ = 0;
  accounts_ = has_measured_;
  has_measured_ = false;
}

void Executor::UpdateTrial(SiteState& site, const Kernel* used, int64_t ns) {
  PlanEntry& entry = *site.entry;
  KernelTrial& trial = entry.trial;
  const Tiering::Options& options = options_.tiering->options();
  if (used == nullptr) {
    trial.AddInterpreted(ns);
  } else {
    trial.AddCompiled(ns);
  }
  // Tier 0's own times, which are never below its best, are no loss of trials.
  Account(trial, used == nullptr ? trial.interpreted_ns() : ns);
  has_measured_ = true;
  if (!IsKept(entry.kernel)) {
    const KernelTrial::Verdict verdict = trial.verdict();
    if (verdict == KernelTrial::Verdict::kSlower) {
      site.slot->SetAside({entry.kernel, entry.parameters, trial.compiled_ns(),
                           trial.interpreted_ns()});
    }
    if (verdict != KernelTrial::Verdict::kKeep) return;
  }
  entry.is_settled = !is_profiled_ && entry.is_checked &&
                     entry.requested_tier >= options.max_tier &&
                     !site.slot->is_pending();
  if (entry.is_settled && entry.kernel != nullptr) entry.plan.reset();
}

std::vector<SiteProfile> Executor::Profile() const {
  const ModuleDefinition& definition = module_->definition();
  std::vector<SiteProfile> profile;
  for (const SiteState& site : sites_) {
    SiteProfile row;
    row.dispatch = definition.dispatches[site.dispatch].name;
    if (site.dispatch < definition.dispatch_origins.size()) {
      row.origin = definition.dispatch_origins[site.dispatch];
    }
    row.program = definition.programs[site.program].name;
    row.instruction = site.instruction;
    row.calls = site.calls;
    row.total_ns = site.total_ns;
    row.tier = site.last_tier;
    row.tier_calls[1] = site.kernel_calls[0];
    row.tier_calls[2] = site.kernel_calls[1];
    row.device_calls = site.device_calls;
    row.shapes = site.shapes;
    row.tier_calls[0] = site.calls - row.tier_calls[1] - row.tier_calls[2];
    if (site.entry != nullptr) {
      row.parameters = site.entry->parameters;
      const PlanEntry& entry = *site.entry;
      if (entry.kernel != nullptr) {
        row.plan = entry.kernel->Describe();
      } else if (entry.plan != nullptr) {
        row.plan = entry.plan->Describe();
      }
    }
    profile.push_back(std::move(row));
  }
  return profile;
}

bool Executor::IsSettled() const {
  return HasAllKernels() &&
         (side_by_side_ == nullptr || side_by_side_->is_decided());
}

bool Executor::HasAllKernels() const {
  return std::ranges::all_of(sites_, [this](const SiteState& site) {
    if (site.entry == nullptr || site.slot == nullptr) return true;
    if (device_ != nullptr) return !is_profiled_ && !site.slot->is_pending();
    return site.entry->is_settled;
  });
}

std::string_view Executor::SiteName(uint32_t site) const {
  if (site >= sites_.size()) return {};
  return module_->definition().dispatches[sites_[site].dispatch].name;
}

void Executor::ResetProfile() {
  for (SiteState& site : sites_) {
    site.calls = 0;
    site.kernel_calls[0] = site.kernel_calls[1] = 0;
    site.device_calls = 0;
    site.total_ns = 0;
    site.shapes.clear();
  }
  trace_.clear();
  if (device_ != nullptr) device_->ResetWork();
}

DeviceReport Executor::device_report() const {
  if (device_ == nullptr) return {};
  return {device_->work(), device_->host_work()};
}

SessionMemory Executor::memory() const {
  SessionMemory memory;
  memory.arena_bytes = arena_->size();
  memory.pool_bytes = pool_->used_bytes() - memory.arena_bytes;
  memory.peak_bytes = pool_->peak_bytes();
  return memory;
}

}  // namespace ember::vm
