// Runs dispatches with kernels where there are any: requests kernels, and uses
// those that are installed in the slots. The derived classes HostDispatchRunner
// and DeviceDispatchRunner differ in how they use a kernel. Internal to
// sessions.
#ifndef EMBER_VM_RUNTIME_DISPATCH_TIERED_RUNNER_H_
#define EMBER_VM_RUNTIME_DISPATCH_TIERED_RUNNER_H_

#include "base/status.h"
#include "vm/runtime/dispatch/runner.h"
#include "vm/runtime/dispatch/tiering.h"

namespace ember::vm {

class TieredDispatchRunner : public DispatchRunner {
 public:
  // Makes the runner of a session. If `tiering` is null, only tier 0 runs. The
  // tiering must outlive the runner.
  TieredDispatchRunner(const DispatchContext& context, Tiering* tiering);

  // Does the work of the first call in advance, for dispatches whose extents
  // never change and which have a kernel already. Errors are ignored here,
  // because the first call returns them again.
  void Prepare() override;

 protected:
  // Returns the tier of the kernel that should be requested now for the site's
  // parameters; see Tiering::NextTier.
  virtual int TierFor(const SiteState& site) const = 0;

  // Requests kernels for a site that has a slot, and uses those that were
  // installed.
  void UpdateKernel(SiteState& site);
  // Chooses the best kernel in the slot for the site's parameters, if there is
  // one.
  void ChooseKernel(SiteState& site);
  void UseKernel(PlanEntry& entry, const Kernel* kernel);
  // Runs the call with the kernel, or at tier 0 if `kernel` is null. The
  // operands are in pointers_.
  Status RunWith(SiteState& site, const Kernel* kernel);

  Tiering* const tiering_;

 private:
  void RequestKernels(const SiteState& site);
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_TIERED_RUNNER_H_
