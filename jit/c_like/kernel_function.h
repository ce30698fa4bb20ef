// Prints a GPU kernel's heading with its arguments, and its declarations of
// buffers. Storage comes from the phase's workgroup (jit/loops/workgroup.h),
// texts from the language's forms.
//
//   KernelHeading(kOpenCl, nest, phase, "phase0");
//   // "kernel … void phase0(global const uchar *restrict a0, const ulong o0, …)"
//   KernelBufferLine(kOpenCl, nest, phase, 3, "b3_tile");
//   // "local float *const b3_tile = (local float *)(shared + 256);"
//
// Thread-safe.
#ifndef EMBER_JIT_C_LIKE_KERNEL_FUNCTION_H_
#define EMBER_JIT_C_LIKE_KERNEL_FUNCTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "jit/c_like/language.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c_like {

// Returns what a launch of the phase's kernel must provide: the bindings, and
// the numbers of invocations and bytes that the heading declares.
gpu::PhaseCode DescribeKernel(const Language& language,
                              const loops::LoopNest& nest,
                              const loops::Phase& phase, std::string name);

std::string KernelHeading(const Language& language, const loops::LoopNest& nest,
                          const loops::Phase& phase, const std::string& name);

// Returns the first lines of the kernel's function. They declare the number of
// its task, the workgroup's memory, and the record of failed checks.
std::vector<std::string> KernelFirstLines(const Language& language,
                                          const loops::LoopNest& nest,
                                          const loops::Phase& phase);

// Returns the line that declares a buffer that is in memory, in the workgroup's
// memory, or in slices (a part of the memory for each workgroup), but not in
// registers. `name`: the buffer's identifier.
std::string KernelBufferLine(const Language& language,
                             const loops::LoopNest& nest,
                             const loops::Phase& phase, uint32_t number,
                             const std::string& name);

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_KERNEL_FUNCTION_H_
