// Runs program.h with the fewest parts that can run a model: one
// thread, no library functions, and the smallest interpreter, which has a tenth
// of the size of the fast one and is hundreds of times slower. The verifier and
// all dtypes are included.
#include <utility>

#include "hal/cpu/serial_device.h"
#include "vm/embedded/program.h"
#include "vm/interpreter/pointwise_plan.h"

namespace ember::vm {
namespace {

// Every field of the options whose default refers to much code is set
// explicitly, because otherwise this code would be linked.
StatusOr<SessionOptions> Options() {
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
                         hal::CreateSerialDevice({}));
  return SessionOptions{.device = std::move(device),
                        .interpreter = &PointwiseInterpreter(),
                        .library = nullptr};
}

}  // namespace
}  // namespace ember::vm

int main(int argc, char** argv) {
  return ember::vm::RunEmbedded(argc, argv, ember::vm::Options);
}
