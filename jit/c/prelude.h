// Completes a file of C: headers, and the functions that code of jit/c calls,
// before the functions that it emitted.
//
//   CompleteFile("int32_t ember_f_phase0(…) { … }")
//
// Thread-safe.
#ifndef EMBER_JIT_C_PRELUDE_H_
#define EMBER_JIT_C_PRELUDE_H_

#include <string>
#include <string_view>

namespace ember::jit::c {

// Returns a file that C11 compiles by itself: everything that the functions
// use, and then the functions.
std::string CompleteFile(std::string_view functions);

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_PRELUDE_H_
