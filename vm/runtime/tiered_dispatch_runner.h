// Runs dispatches by kernels where there are some: asks for them, takes what
// comes into the slots. What it takes to use one on the host and on a device
// differs, see HostDispatchRunner and DeviceDispatchRunner. Internal to
// sessions.
#ifndef EMBER_VM_RUNTIME_TIERED_DISPATCH_RUNNER_H_
#define EMBER_VM_RUNTIME_TIERED_DISPATCH_RUNNER_H_

#include "base/status.h"
#include "vm/runtime/dispatch_runner.h"
#include "vm/runtime/tiering.h"

namespace ember::vm {

class TieredDispatchRunner : public DispatchRunner {
 public:
  // tiering: null: tier 0 only. It outlives this.
  TieredDispatchRunner(const DispatchContext& context, Tiering* tiering);

  // For dispatches whose extents are always the same and that have a kernel
  // already, what their first call would otherwise do. What is refused is
  // refused again when it is reached.
  void Prepare() override;

 protected:
  // What a shape class should request now, as Tiering::NextTier.
  virtual int TierFor(const SiteState& site) const = 0;

  // Of a site with a slot: asks for kernels, and uses those that have come.
  void UpdateKernel(SiteState& site);
  // The best kernel that the slot shows now.
  void ChooseKernel(SiteState& site);
  void UseKernel(PlanEntry& entry, const Kernel* kernel);
  // By the kernel, at tier 0 if it is null, with pointers_.
  Status RunWith(SiteState& site, const Kernel* kernel);

  Tiering* const tiering_;

 private:
  void RequestKernels(const SiteState& site);
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_TIERED_DISPATCH_RUNNER_H_
