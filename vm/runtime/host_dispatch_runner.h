// Runs dispatches on the host by tier 0 and kernels: the first call of a kernel
// is checked against tier 0 (kernel_check.h), then its times are compared with
// those of tier 0 (kernel_trial.h), and it is used or set aside; calls of
// neighbouring kernels may be made at once (side_by_side.h). Internal to
// sessions; Tiering makes it.
#ifndef EMBER_VM_RUNTIME_HOST_DISPATCH_RUNNER_H_
#define EMBER_VM_RUNTIME_HOST_DISPATCH_RUNNER_H_

#include <memory>

#include "base/status.h"
#include "vm/runtime/kernel_check.h"
#include "vm/runtime/side_by_side.h"
#include "vm/runtime/tiered_dispatch_runner.h"
#include "vm/runtime/trial_account.h"

namespace ember::vm {

class HostDispatchRunner final : public TieredDispatchRunner {
 public:
  HostDispatchRunner(const DispatchContext& context, Tiering& tiering);

  // And what Tiering::preparation says.
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
  // What is decided: nothing is measured.
  Status RunSettled(SiteState& site);
  // Measures: for the profile, the trace, or as there is something to decide.
  Status RunObserved(SiteState& site);
  bool HasAllKernels() const;

  // The first call of a kernel: tier 0 makes it, the kernel on copies; then
  // the kernel is known to be right, or is used no more
  // (host_kernel_checks.cc). kLater: not in this run, and until then it is not
  // used.
  enum class CheckTime { kNever, kNow, kLater };
  CheckTime WhenToCheck(SiteState& site);
  Status RunChecked(SiteState& site);
  // Whether the kernel did what tier 0 did, with status `want`.
  void ReleaseConstants(const SiteState& site);
  void Check(SiteState& site, KernelCheck& check, const Status& want);

  // Whether a call leaves the kernel that is there to be measured.
  bool IsKept(const Kernel* kernel) const;
  bool StaysInterpreted(const PlanEntry& entry) const;
  // After a call that `used` a kernel, or tier 0 if null.
  void UpdateTrial(SiteState& site, const Kernel* used, int64_t ns);

  Tiering& tiering() const { return *tiering_; }

  // Null where dispatches run one after another.
  std::unique_ptr<SideBySide> side_by_side_;
  bool has_run_ = false;
  TrialAccount account_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_HOST_DISPATCH_RUNNER_H_
