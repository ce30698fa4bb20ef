// The first call of a kernel, which nobody sees the results of.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/mapped_pages.h"
#include "vm/runtime/host_dispatch_runner.h"
#include "vm/runtime/steady_clock.h"

namespace ember::vm {
namespace {

// Bytes of a constant that are worth a call of the system.
constexpr int64_t kLargeConstant = int64_t{1} << 20;

}  // namespace

HostDispatchRunner::CheckTime HostDispatchRunner::WhenToCheck(SiteState& site) {
  // Shape classes that a kernel for all of them is checked with.
  constexpr int kMostClasses = 8;
  PlanEntry& entry = *site.entry;
  if (entry.is_checked) return CheckTime::kNever;
  // By whatever session.
  const KernelSlot::Checks checks =
      site.slot->ChecksOf(entry.kernel, entry.parameters);
  entry.is_checked = checks.has_these || checks.count >= kMostClasses;
  if (entry.is_checked) return CheckTime::kNever;
  // After a check that told little comes the next call: the first of each run
  // may be as little worth.
  if (entry.checks > 0 || !account_.has_lost_enough()) return CheckTime::kNow;
  return checks.count > 0 ? CheckTime::kNever : CheckTime::kLater;
}

Status HostDispatchRunner::RunChecked(SiteState& site) {
  PlanEntry& entry = *site.entry;
  const int64_t start = SteadyNanoseconds();
  const Interrupt& interrupt = *context_.runner.interrupt();
  StatusOr<KernelCheck> check =
      KernelCheck::Copy(context_.memory.pool(), PointersOf(site),
                        entry.required_bytes, site.input_count, &interrupt);
  if (interrupt.ShouldStop()) return interrupt.status();
  if (!check.ok()) {
    site.slot->NoteUnchecked(
        check.status()
            .WithContext("a kernel is not used, as it could not be checked")
            .ToString());
    UseKernel(entry, nullptr);
  }
  // Tier 0 is wanted once: weights are not packed for it beside the kernel's.
  const bool is_only_checking = entry.plan == nullptr;
  if (is_only_checking) {
    EMBER_RETURN_IF_ERROR(
        CacheOf(site).Restore(entry, /*keeps_constants=*/false));
  }
  const int64_t begin = SteadyNanoseconds();
  Status status = RunWith(site, nullptr);
  const int64_t end = SteadyNanoseconds();
  if (is_only_checking) entry.plan.reset();
  NoteCall(site, 0, begin, end);
  if (check.ok()) Check(site, *check, status);
  if (is_only_checking) ReleaseConstants(site);
  // Kernels that were there before the first call of tier 0 stay so.
  const bool is_measured = entry.trial.interpreted_ns() > 0;
  if (status.ok()) tiering().Count(site.group, end - begin);
  if (status.ok() && is_measured) UpdateTrial(site, nullptr, end - begin);
  account_.AddLoss(SteadyNanoseconds() - start - (end - begin));
  account_.NoteMeasured();
  return status;
}

// Of weights that lie in the model's file the kernel has a copy.
void HostDispatchRunner::ReleaseConstants(const SiteState& site) {
  const auto first = std::ranges::find(context_.module.sites(), site.group,
                                       &DispatchSite::group);
  const std::span<void* const> buffers = PointersOf(site);
  for (size_t i = 0; i < first->inputs.size(); ++i) {
    const int64_t bytes = site.entry->required_bytes[i];
    if (first->inputs[i].constant < 0 || bytes < kLargeConstant) continue;
    ReleaseMappedPages(
        {static_cast<const uint8_t*>(buffers[i]), static_cast<size_t>(bytes)});
  }
}

void HostDispatchRunner::Check(SiteState& site, KernelCheck& check,
                               const Status& want) {
  // Calls of a kernel whose operands tell little; then it is believed.
  constexpr int kMostChecks = 4;
  PlanEntry& entry = *site.entry;
  const Kernel& kernel = *entry.kernel;
  KernelJudge& judge = *tiering().judge();
  const tensor::Dispatch& dispatch = DispatchOf(site);
  InterruptibleRunner& runner = context_.runner;
  const Interrupt& interrupt = *runner.interrupt();
  for (size_t i = 0; i < check.got().size(); ++i) {
    const bool is_float = IsFloat(dispatch.buffers[site.input_count + i].type);
    if (judge.StoresAll(dispatch, entry.parameters, i) &&
        !check.Overwrite(i, is_float, &interrupt))
      return;
  }
  const Status got =
      RunOnHost(kernel, {entry.parameters, check.buffers(), runner,
                         entry.points, context_.memory.pool().get()});
  // One that was stopped, or came after what was, has computed only a part.
  if (interrupt.ShouldStop()) return;
  // After an error of both there is nothing to compare: another time.
  if (!want.ok() && !got.ok()) return;
  const auto first = std::ranges::find(context_.module.sites(), site.group,
                                       &DispatchSite::group);
  std::vector<bool> constant_inputs;
  for (const ConstantSource& source : first->inputs)
    constant_inputs.push_back(source.constant >= 0);
  const std::span<const void* const> pointers = PointersOf(site);
  KernelVerdict verdict =
      judge.Judge({.dispatch = dispatch,
                   .kernel = kernel,
                   .parameters = entry.parameters,
                   .target = context_.options.device->target(),
                   .threads = runner.worker_count(),
                   .constant_inputs = constant_inputs,
                   .inputs = check.inputs(),
                   .want = pointers.subspan(site.input_count),
                   .got = check.got(),
                   .shared = check.shared(),
                   .want_status = want,
                   .got_status = got,
                   .interrupt = &interrupt});
  // It has not looked at all of it, and there will be another call.
  if (interrupt.ShouldStop()) return;
  if (!verdict.wrong.empty()) {
    site.slot->Withdraw(&kernel, std::move(verdict.wrong));
    return ChooseKernel(site);
  }
  if (verdict.tells_little && ++entry.checks < kMostChecks) return;
  site.slot->NoteChecked(&kernel, entry.parameters);
  entry.is_checked = true;
}

}  // namespace ember::vm
