// What stands in a file of C in front of functions that jit/c emitted: headers,
// and the functions that they call.
//
//   CompleteFile("int32_t ember_f_phase0(…) { … }")
//
// Thread-safe.
#ifndef EMBER_JIT_C_PRELUDE_H_
#define EMBER_JIT_C_PRELUDE_H_

#include <string>
#include <string_view>

namespace ember::jit::c {

// The functions behind all that they use: a file that C11 compiles by itself.
std::string CompleteFile(std::string_view functions);

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_PRELUDE_H_
