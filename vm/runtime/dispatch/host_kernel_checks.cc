// Checks the first call of a kernel. The kernel's results of this call are only
// compared, not used.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/mapped_pages.h"
#include "vm/runtime/dispatch/host_runner.h"
#include "vm/runtime/steady_clock.h"

namespace ember::vm {
namespace {

// Smallest size in bytes of a constant whose pages are worth releasing after a
// kernel has packed the constant.
constexpr int64_t kLargeConstant = int64_t{1} << 20;

}  // namespace

HostDispatchRunner::CheckTime HostDispatchRunner::WhenToCheck(SiteState& site) {
  // Number of shape classes after which a kernel for all shapes needs no more
  // checks.
  constexpr int kMaxClasses = 8;
  PlanEntry& entry = *site.entry;
  if (entry.is_checked) return CheckTime::kNever;
  // Checks of the kernel by other sessions count, too, because the sessions
  // share its slot.
  const KernelSlot::Checks checks =
      site.slot->ChecksOf(entry.kernel, entry.parameters);
  entry.is_checked = checks.has_these || checks.count >= kMaxClasses;
  if (entry.is_checked) return CheckTime::kNever;
  // After an inconclusive check the kernel is checked in the next call, even if
  // trials have taken enough time of this run. Otherwise only first calls of
  // runs might be checked, which may all be inconclusive.
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
  // If the entry has no plan, one is made only for this call at tier 0. The
  // plan does not pack weights, because it runs only once and the kernel has
  // packed them already.
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
  // The call's time at tier 0 is compared with the kernel's only if earlier
  // calls at tier 0 were timed.
  const bool is_measured = entry.trial.interpreted_ns() > 0;
  if (status.ok()) tiering().Count(site.group, end - begin);
  if (status.ok() && is_measured) UpdateTrial(site, nullptr, end - begin);
  account_.AddLoss(SteadyNanoseconds() - start - (end - begin));
  account_.NoteMeasured();
  return status;
}

// Releases the pages of large constants in the model's file, because the kernel
// has a packed copy of them.
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
  // Number of inconclusive checks after which the kernel is accepted.
  constexpr int kMaxChecks = 4;
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
  // The check is left out if the run was stopped, because the results may then
  // be incomplete.
  if (interrupt.ShouldStop()) return;
  // If both tier 0 and the kernel failed, there is nothing to compare; a later
  // call will be checked.
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
  // If the interrupt stopped the judge, it has not compared all results;
  // another call will be checked.
  if (interrupt.ShouldStop()) return;
  if (!verdict.wrong.empty()) {
    site.slot->Withdraw(&kernel, std::move(verdict.wrong));
    return ChooseKernel(site);
  }
  if (verdict.tells_little && ++entry.checks < kMaxChecks) return;
  site.slot->NoteChecked(&kernel, entry.parameters);
  entry.is_checked = true;
}

}  // namespace ember::vm
