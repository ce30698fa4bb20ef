// The table of MSL (the Metal Shading Language, version 2.2 or newer) for the
// shared printer (jit/c_like).
//
//   c_like::PrintPhase(kLanguage, nest, nest.phases[0], "phase0");
//
// A kernel's arguments follow vm/format/device_abi.h: binding i is buffer i, at
// its offset; buffer kParametersIndex holds the parameters and the number of
// the first task, 8 bytes each. Programs must be compiled without fast math.
//
// The tables are constants. Source: the Metal Shading Language Specification.
#ifndef EMBER_JIT_METAL_LANGUAGE_H_
#define EMBER_JIT_METAL_LANGUAGE_H_

#include <string_view>

#include "jit/c_like/language.h"

namespace ember::jit::metal {

extern const c_like::Language kLanguage;

// The text at the beginning of each program: compiler options and the functions
// that kernels call.
extern const std::string_view kPrelude;

// Index of the buffer that holds the parameters; it is the highest index that
// Metal allows.
inline constexpr int kParametersIndex = 30;

}  // namespace ember::jit::metal

#endif  // EMBER_JIT_METAL_LANGUAGE_H_
