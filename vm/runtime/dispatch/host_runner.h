// Runs dispatches on the host by tier 0 and kernels. The first call of a kernel
// is checked against tier 0 (vm/runtime/kernels/check.h). Then the kernel's
// times are compared with those of tier 0 (vm/runtime/kernels/trial.h), and the
// kernel is either kept or no longer used. Calls of neighbouring kernels may
// run concurrently (side_by_side.h). Internal to sessions; Tiering makes it.
#ifndef EMBER_VM_RUNTIME_DISPATCH_HOST_RUNNER_H_
#define EMBER_VM_RUNTIME_DISPATCH_HOST_RUNNER_H_

#include <memory>

#include "base/status.h"
#include "vm/runtime/dispatch/side_by_side.h"
#include "vm/runtime/dispatch/tiered_runner.h"
#include "vm/runtime/dispatch/trial_account.h"
#include "vm/runtime/kernels/check.h"

namespace ember::vm {

class HostDispatchRunner final : public TieredDispatchRunner {
 public:
  HostDispatchRunner(const DispatchContext& context, Tiering& tiering);

  // Prepares the sites (TieredDispatchRunner::Prepare), then calls
  // Tiering::preparation if there is one.
  void Prepare() override;
  void StartRun() override;
  Status EndRun() override;
  Status Synchronize() override {
    return side_by_side_ == nullptr ? OkStatus() : side_by_side_->Synchronize();
  }
  bool IsSettled() const override;
  int side_by_side_count() const override {
    return side_by_side_ == nullptr ? 0 : side_by_side_->batch_count();
  }

 private:
  int TierFor(const SiteState& site) const override;
  Status RunCall(SiteState& site, const MemoryReference* buffers) override;
  // Runs a call without measuring it, because the choice of its kernel is
  // final.
  Status RunSettled(SiteState& site);
  // Runs a call and measures its time: for the profile, for the trace, or
  // because the choice of the kernel is not final.
  Status RunObserved(SiteState& site);
  bool HasAllKernels() const;

  // Says when the first call of a kernel is checked. In a check, tier 0 makes
  // the call, and the kernel makes the same call on copies of the memory; a
  // wrong kernel is not used any more (host_kernel_checks.cc). kLater: the
  // kernel is not checked in this run, and not used until it has been checked.
  enum class CheckTime { kNever, kNow, kLater };
  CheckTime WhenToCheck(SiteState& site);
  Status RunChecked(SiteState& site);
  // Releases the pages of the site's large constants in the model's file,
  // because a kernel usually has copies of them in a layout of its own.
  void ReleaseConstants(const SiteState& site);
  // Compares the kernel's results with those of tier 0. `want` is the status of
  // tier 0's call.
  void Check(SiteState& site, KernelCheck& check, const Status& want);

  // True if the kernel is used without further comparisons of its time with
  // tier 0's. Also true for null, which is tier 0.
  bool IsKept(const Kernel* kernel) const;
  bool StaysInterpreted(const PlanEntry& entry) const;
  // Updates the choice between a site's kernel and tier 0 after a call that
  // took `ns` nanoseconds. `used` is the kernel that made the call; null if
  // tier 0 made it.
  void UpdateTrial(SiteState& site, const Kernel* used, int64_t ns);

  Tiering& tiering() const { return *tiering_; }

  // Runs independent neighbouring calls concurrently. Null: calls run one after
  // another.
  std::unique_ptr<SideBySide> side_by_side_;
  bool has_run_ = false;
  TrialAccount account_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_HOST_RUNNER_H_
