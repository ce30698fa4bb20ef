// The table by which the shared printer (jit/c_like) prints nests in C11. The
// printed functions have the signature of vm/format/kernel_abi.h.
//
//   c_like::PrintPhase(kLanguage, nest, nest.phases[0], "ember_relu_phase0");
//
// A constant.
#ifndef EMBER_JIT_C_LANGUAGE_H_
#define EMBER_JIT_C_LANGUAGE_H_

#include "jit/c_like/language.h"

namespace ember::jit::c {

extern const c_like::Language kLanguage;

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_LANGUAGE_H_
