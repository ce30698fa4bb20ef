// The first call of a kernel, which nobody sees the results of.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "vm/runtime/executor.h"
#include "vm/runtime/steady_clock.h"

namespace ember::vm {

Executor::CheckTime Executor::WhenToCheck(SiteState& site) {
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
  if (entry.checks > 0 || lost_ns_ <= may_lose_ns_) return CheckTime::kNow;
  return checks.count > 0 ? CheckTime::kNever : CheckTime::kLater;
}

Status Executor::RunChecked(SiteState& site) {
  PlanEntry& entry = *site.entry;
  const int64_t start = SteadyNanoseconds();
  StatusOr<KernelCheck> check =
      KernelCheck::Copy(pool_, {pointers_.data(), site.buffer_count},
                        entry.required_bytes, site.input_count);
  if (!check.ok()) {
    site.slot->NoteUnchecked(
        check.status()
            .WithContext("a kernel is not used, as it could not be checked")
            .ToString());
    UseKernel(entry, nullptr);
  }
  const int64_t begin = SteadyNanoseconds();
  Status status = RunWith(site, nullptr);
  const int64_t end = SteadyNanoseconds();
  site.total_ns += end - begin;
  if (options_.profile) CountShape(site, end - begin);
  site.last_tier = 0;
  ++entry.calls;
  if (check.ok()) Check(site, *check, status);
  // Kernels that were there before the first call of tier 0 stay so.
  const bool is_measured = entry.trial.interpreted_ns() > 0;
  if (status.ok()) options_.tiering->Count(site.group, end - begin);
  if (status.ok() && is_measured) UpdateTrial(site, nullptr, end - begin);
  lost_ns_ += SteadyNanoseconds() - start - (end - begin);
  has_measured_ = true;
  if (options_.trace) Trace(site, begin, end);
  return status;
}

void Executor::Check(SiteState& site, KernelCheck& check, const Status& want) {
  // Calls of a kernel whose operands tell little; then it is believed.
  constexpr int kMostChecks = 4;
  PlanEntry& entry = *site.entry;
  const Kernel& kernel = *entry.kernel;
  KernelJudge& judge = *options_.tiering->judge();
  const tensor::Dispatch& dispatch =
      module_->definition().dispatches[site.dispatch];
  for (size_t i = 0; i < check.got().size(); ++i) {
    if (judge.StoresAll(dispatch, entry.parameters, i))
      check.Overwrite(i, IsFloat(dispatch.buffers[site.input_count + i].type));
  }
  const Status got = kernel.Run(
      {entry.parameters, check.buffers(), runner_, entry.points, pool_.get()});
  // One that was stopped, or came after what was, has computed only a part.
  if (interrupt_.ShouldStop()) return;
  // After an error of both there is nothing to compare: another time.
  if (!want.ok() && !got.ok()) return;
  const auto first =
      std::ranges::find(module_->sites(), site.group, &DispatchSite::group);
  std::vector<bool> constant_inputs;
  for (const ConstantSource& source : first->inputs)
    constant_inputs.push_back(source.constant >= 0);
  const std::span<const void* const> pointers(pointers_.data(),
                                              site.buffer_count);
  KernelVerdict verdict =
      judge.Judge({.dispatch = dispatch,
                   .kernel = kernel,
                   .parameters = entry.parameters,
                   .target = options_.device->target(),
                   .threads = runner_.worker_count(),
                   .constant_inputs = constant_inputs,
                   .inputs = check.inputs(),
                   .want = pointers.subspan(site.input_count),
                   .got = check.got(),
                   .shared = check.shared(),
                   .want_status = want,
                   .got_status = got});
  if (!verdict.wrong.empty()) {
    site.slot->Withdraw(&kernel, std::move(verdict.wrong));
    return ChooseKernel(site);
  }
  if (verdict.tells_little && ++entry.checks < kMostChecks) return;
  site.slot->NoteChecked(&kernel, entry.parameters);
  entry.is_checked = true;
}

}  // namespace ember::vm
