// The table of OpenCL C 1.2 for the shared printer (jit/c_like). Kernels are
// called as vm/format/device_abi.h and hal/executable.h ("opencl-c") say.
//
//   c_like::PrintPhase(LanguageFor(target), nest, nest.phases[0], "phase0");
//
// The tables are constants.
#ifndef EMBER_JIT_OPENCL_LANGUAGE_H_
#define EMBER_JIT_OPENCL_LANGUAGE_H_

#include <string_view>

#include "jit/c_like/language.h"
#include "jit/opencl/target.h"

namespace ember::jit::opencl {

const c_like::Language& LanguageFor(const Target& target);

// Returns the text at the beginning of each program: compiler options and the
// functions that kernels call.
std::string_view PreludeFor(const Target& target);

}  // namespace ember::jit::opencl

#endif  // EMBER_JIT_OPENCL_LANGUAGE_H_
