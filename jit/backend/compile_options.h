// Options of a call of the compiler.
#ifndef EMBER_JIT_BACKEND_COMPILE_OPTIONS_H_
#define EMBER_JIT_BACKEND_COMPILE_OPTIONS_H_

#include <cstdint>
#include <string>

namespace ember::jit {

enum class Effort : uint8_t {
  kFast,  // little optimisation, and fast instruction selection if there is one
  kFull
};

struct CompileOptions {
  Effort effort = Effort::kFull;
  // `keep_llvm`, `keep_assembly` and `keep_passes` keep texts for people to
  // read; the texts are never run.
  bool keep_llvm = false;
  bool keep_assembly = false;
  bool keep_passes = false;  // keeps the text of the loop nest after each pass
  // The target that the code is for: empty means the compiler's CPU; otherwise
  // the text of a device whose code LLVM makes ("sm_90a+shared232448…").
  std::string target;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_COMPILE_OPTIONS_H_
