// Runs dispatches on a device that is not the host. A call becomes a command of
// the device if the dispatch has a kernel; otherwise tier 0 runs the call on
// the host. Internal to sessions; DeviceSupport makes this object.
#ifndef EMBER_VM_RUNTIME_DEVICES_DISPATCH_RUNNER_H_
#define EMBER_VM_RUNTIME_DEVICES_DISPATCH_RUNNER_H_

#include <vector>

#include "base/status.h"
#include "vm/runtime/device_support.h"
#include "vm/runtime/dispatch/tiered_runner.h"

namespace ember::vm {

class DeviceDispatchRunner final : public TieredDispatchRunner {
 public:
  // Makes the runner of a session. If tiering is null, only tier 0 runs. The
  // context and tiering must outlive the runner.
  DeviceDispatchRunner(const DispatchContext& context, Tiering* tiering,
                       DeviceSupport& device)
      : TieredDispatchRunner(context, tiering), device_(device) {}

  bool IsSettled() const override;

 private:
  int TierFor(const SiteState& site) const override;
  Status RunCall(SiteState& site, const MemoryReference* buffers) override;
  // Appends the call as a command. Returns false if the call must run on the
  // host; *reason then says why, unless the dispatch has no kernel for the
  // device.
  StatusOr<bool> Append(const SiteState& site, const char** reason);
  Status RunOnHost(SiteState& site, const char* reason);

  DeviceSupport& device_;
  // operands of the dispatch that is being started
  std::vector<MemoryReference> references_;
  std::vector<HostAccess> accesses_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DEVICES_DISPATCH_RUNNER_H_
