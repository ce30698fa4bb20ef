// Runs program.h with all that the runtime does on the host except
// kernels: tier 0 at full speed, threads, library functions. Its stripped size
// is what the runtime costs; size_by_component.py splits that size by
// component.
#include <utility>

#include "hal/cpu/device.h"
#include "vm/embedded/program.h"

namespace ember::vm {
namespace {

StatusOr<SessionOptions> Options() {
  SessionOptions options;
  EMBER_ASSIGN_OR_RETURN(options.device, hal::CreateCpuDevice({}));
  return options;
}

}  // namespace
}  // namespace ember::vm

int main(int argc, char** argv) {
  return ember::vm::RunEmbedded(argc, argv, ember::vm::Options);
}
