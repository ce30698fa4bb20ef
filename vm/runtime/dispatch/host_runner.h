// Runs dispatches on the host by tier 0 and kernels. The first call of a kernel
// is checked against tier 0 (vm/runtime/kernels/check.h). Then its times are
// compared with those of tier 0 (vm/runtime/kernels/trial.h), and it is used or
// set aside. Calls of neighbouring kernels may run concurrently
// (side_by_side.h). Internal to sessions; Tiering makes it.
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

  // Also calls Tiering::preparation.
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
  // Runs and measures a call: for the profile, the trace, or a choice that is
  // still open.
  Status RunObserved(SiteState& site);
  bool HasAllKernels() const;

  // Decides about checking the first call of a kernel: tier 0 makes the call,
  // and the kernel makes it on copies. Then the kernel is known to be right, or
  // is not used any more (host_kernel_checks.cc). kLater: it is not checked in
  // this run, and not used until it is checked.
  enum class CheckTime { kNever, kNow, kLater };
  CheckTime WhenToCheck(SiteState& site);
  Status RunChecked(SiteState& site);
  // Compares the kernel's results with those of tier 0, whose status was
  // `want`.
  void ReleaseConstants(const SiteState& site);
  void Check(SiteState& site, KernelCheck& check, const Status& want);

  // True if the kernel stays in use without further measurements.
  bool IsKept(const Kernel* kernel) const;
  bool StaysInterpreted(const PlanEntry& entry) const;
  // Updates the choice of a site's kernel after a call by the kernel `used`;
  // null: a call at tier 0.
  void UpdateTrial(SiteState& site, const Kernel* used, int64_t ns);

  Tiering& tiering() const { return *tiering_; }

  // Runs neighbouring calls concurrently. Null if dispatches run one after
  // another.
  std::unique_ptr<SideBySide> side_by_side_;
  bool has_run_ = false;
  TrialAccount account_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_HOST_RUNNER_H_
