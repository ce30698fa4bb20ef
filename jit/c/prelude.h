// Completes a C file: puts the headers, and the helper functions that printed
// code calls, before the functions of kernels.
//
//   CompleteFile("int32_t ember_f_phase0(…) { … }")
//
// Thread-safe.
#ifndef EMBER_JIT_C_PRELUDE_H_
#define EMBER_JIT_C_PRELUDE_H_

#include <string>
#include <string_view>

namespace ember::jit::c {

// Returns a file that a C11 compiler accepts by itself: headers and those
// helper functions that `functions` call, followed by `functions`.
std::string CompleteFile(std::string_view functions);

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_PRELUDE_H_
