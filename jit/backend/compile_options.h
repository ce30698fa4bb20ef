// What a caller of the compiler chooses.
#ifndef EMBER_JIT_BACKEND_COMPILE_OPTIONS_H_
#define EMBER_JIT_BACKEND_COMPILE_OPTIONS_H_

#include <cstdint>

namespace ember::jit {

enum class Effort : uint8_t {
  kFast,  // little optimisation, fast instruction selection where there is one
  kFull
};

struct CompileOptions {
  Effort effort = Effort::kFull;
  // What to keep for people, as text; nothing runs from these.
  bool keep_llvm = false;
  bool keep_assembly = false;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_COMPILE_OPTIONS_H_
