// Prints a device nest as the kernels of a GPU's language, one for each phase.
//
//   KernelsBuild build = {.language = kOpenCl, .device = target,
//                         .prelude = kPrelude, .format = "opencl-c"};
//   EMBER_ASSIGN_OR_RETURN(gpu::DeviceCode code,
//                          PrintKernels(nest, build, log));
//
// The text names neither nest nor dispatch, so that equal kernels have equal
// texts. Thread-safe.
#ifndef EMBER_JIT_C_LIKE_KERNELS_H_
#define EMBER_JIT_C_LIKE_KERNELS_H_

#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "jit/backend/pass_log.h"
#include "jit/c_like/language.h"
#include "jit/gpu/device_traits.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c_like {

struct KernelsBuild {
  const Language& language;
  const gpu::DeviceTraits& device;
  // the text at the start of the file, before the first kernel
  std::string_view prelude;
  // the name of the code's format (hal/executable.h)
  std::string_view format;
  // Returns what is declared before the function of a phase, or an error with a
  // reason of jit/backend/decline_reasons.h. Null: nothing.
  std::function<StatusOr<std::string>(const loops::LoopNest& nest,
                                      const loops::Phase& phase)>
      declarations;
};

// Runs the device's passes on the verified nest, and prints the resulting
// device nest. `log`: if it is not null, gets the passes that ran. Errors:
// reasons of jit/backend/decline_reasons.h.
StatusOr<gpu::DeviceCode> PrintKernels(const loops::LoopNest& nest,
                                       const KernelsBuild& build, PassLog* log);

// Returns the source text of the printed kernels, whose bytes `code` holds.
std::string TextOf(const gpu::DeviceCode& code);

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_KERNELS_H_
