// Runs dispatches by kernels if there are any: it requests them, and uses those
// that are installed in the slots. HostDispatchRunner and DeviceDispatchRunner
// differ in how they use a kernel. Internal to sessions.
#ifndef EMBER_VM_RUNTIME_DISPATCH_TIERED_RUNNER_H_
#define EMBER_VM_RUNTIME_DISPATCH_TIERED_RUNNER_H_

#include "base/status.h"
#include "vm/runtime/dispatch/runner.h"
#include "vm/runtime/dispatch/tiering.h"

namespace ember::vm {

class TieredDispatchRunner : public DispatchRunner {
 public:
  // Makes the runner of a session. tiering: null: tier 0 only. It must outlive
  // the runner.
  TieredDispatchRunner(const DispatchContext& context, Tiering* tiering);

  // Does the work of the first call for dispatches whose extents are always the
  // same and that have a kernel already. Errors are ignored here; the call
  // itself returns them again.
  void Prepare() override;

 protected:
  // Returns the tier that a shape class should request now; see
  // Tiering::NextTier.
  virtual int TierFor(const SiteState& site) const = 0;

  // Requests kernels for a site with a slot, and uses those that were
  // installed.
  void UpdateKernel(SiteState& site);
  // Chooses the best kernel in the slot.
  void ChooseKernel(SiteState& site);
  void UseKernel(PlanEntry& entry, const Kernel* kernel);
  // Runs the call by the kernel, or at tier 0 if the kernel is null. The
  // operands are in pointers_.
  Status RunWith(SiteState& site, const Kernel* kernel);

  Tiering* const tiering_;

 private:
  void RequestKernels(const SiteState& site);
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_TIERED_RUNNER_H_
