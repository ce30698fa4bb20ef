// Runs program.h with all parts of the runtime on the host except
// kernels: the fast interpreter, threads, library functions. Its stripped size
// is the size of the runtime; size_by_component.py prints how much of it each
// component takes.
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
