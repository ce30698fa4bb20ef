// The table of WGSL (the WebGPU Shading Language) for the shared printer
// (jit/c_like).
//
//   c_like::PrintPhase(kLanguage, nest, nest.phases[0], "phase0");
//
// WGSL has no pointers to memory that could change their type. So buffers are
// variables of the module, which jit/wgsl/declarations.h declares, and each
// access has the form that the table's `load` and `store` give it.
//
// Constants. Source: https://www.w3.org/TR/WGSL/.
#ifndef EMBER_JIT_WGSL_LANGUAGE_H_
#define EMBER_JIT_WGSL_LANGUAGE_H_

#include "jit/c_like/language.h"

namespace ember::jit::wgsl {

extern const c_like::Language kLanguage;

}  // namespace ember::jit::wgsl

#endif  // EMBER_JIT_WGSL_LANGUAGE_H_
