// Who makes what runs a session's dispatches, where that is not tier 0 alone.
// An interface, so that a runtime without kernels, or for the host alone, does
// not carry what it does not use: Tiering implements it for kernels of the
// host, DeviceSupport for devices.
#ifndef EMBER_VM_RUNTIME_DISPATCH_RUNNER_SOURCE_H_
#define EMBER_VM_RUNTIME_DISPATCH_RUNNER_SOURCE_H_

#include <memory>

#include "base/status.h"

namespace ember::vm {

struct DispatchContext;
class DispatchRunner;

class DispatchRunnerSource {
 public:
  virtual ~DispatchRunnerSource() = default;
  // What the context names outlives the runner, and so does this.
  virtual StatusOr<std::unique_ptr<DispatchRunner>> NewDispatchRunner(
      const DispatchContext& context) = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_RUNNER_SOURCE_H_
