// What a caller of the compiler chooses.
#ifndef EMBER_JIT_BACKEND_COMPILE_OPTIONS_H_
#define EMBER_JIT_BACKEND_COMPILE_OPTIONS_H_

#include <cstdint>
#include <string>

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
  // What the code is for: the text of a device's target whose code LLVM makes
  // ("sm_90a+shared232448…"); empty: the CPU that the compiler is for.
  std::string target;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_COMPILE_OPTIONS_H_
