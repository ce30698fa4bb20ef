#include "jit/opencl/source.h"

#include "jit/c_like/kernels.h"
#include "jit/opencl/language.h"

namespace ember::jit::opencl {

StatusOr<gpu::DeviceCode> EmitProgram(const loops::LoopNest& nest,
                                      const Target& target, PassLog* log) {
  return c_like::PrintKernels(nest,
                              {.language = LanguageFor(target),
                               .device = target,
                               .prelude = PreludeFor(target),
                               .format = "opencl-c"},
                              log);
}

}  // namespace ember::jit::opencl
