// Makes the object that runs a session's dispatches, if that is not tier 0
// alone. It is an interface, so that a runtime without kernels, or for the host
// alone, does not link unused code: Tiering implements it for kernels of the
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
  // Makes the runner of a session. The objects that the context refers to, and
  // this source, outlive the runner.
  virtual StatusOr<std::unique_ptr<DispatchRunner>> NewDispatchRunner(
      const DispatchContext& context) = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_RUNNER_SOURCE_H_
