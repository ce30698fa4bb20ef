// Makes the object that runs a session's dispatches, if tier 0 alone does not
// run them. It is an interface, so that a runtime without kernels, or for the
// host alone, does not link unused code: Tiering implements it for kernels of
// the host, DeviceSupport for devices.
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
  // Makes the runner of a session. The objects to which the context refers, and
  // this source, must outlive the runner.
  virtual StatusOr<std::unique_ptr<DispatchRunner>> NewDispatchRunner(
      const DispatchContext& context) = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_RUNNER_SOURCE_H_
