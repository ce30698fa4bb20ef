// Prints the parts of a kernel function that say where its data is: the heading
// with its arguments, and the declarations of buffers. Everything comes from
// the phase's workgroup (jit/loops/workgroup.h) and the language's forms.
//
//   KernelHeading(kOpenCl, nest, phase, "phase0");
//   // "kernel … void phase0(global const uchar *restrict a0, const ulong o0, …)"
//   KernelBufferLine(kOpenCl, nest, phase, 3, "b3_tile");
//   // "local float *const b3_tile = (local float *)(shared + 256);"
//
// Thread-safe.
#ifndef EMBER_JIT_C_LIKE_KERNEL_FUNCTION_H_
#define EMBER_JIT_C_LIKE_KERNEL_FUNCTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jit/c_like/language.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c_like {

// Returns how the phase's kernel is launched, as its heading declares it.
gpu::PhaseCode DescribeKernel(const Language& language,
                              const loops::LoopNest& nest,
                              const loops::Phase& phase, std::string name);

std::string KernelHeading(const Language& language, const loops::LoopNest& nest,
                          const loops::Phase& phase, const std::string& name);

// Returns the lines at the begin of the function: the number of its task, the
// workgroup's memory, the record of failed checks.
std::vector<std::string> KernelFirstLines(const Language& language,
                                          const loops::LoopNest& nest,
                                          const loops::Phase& phase);

// True if the buffer is in the device's memory, where it has a binding.
bool IsBound(const loops::BufferStorage& storage);
// Returns the number of the buffer's binding.
size_t BindingOf(const loops::Phase& phase, uint32_t buffer);

// Returns the line that declares a buffer that is no register buffer; empty if
// the language declares the buffer before the function (Language::load).
std::string KernelBufferLine(const Language& language,
                             const loops::LoopNest& nest,
                             const loops::Phase& phase, uint32_t number,
                             const std::string& name);

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_KERNEL_FUNCTION_H_
