// Says where a kernel's code came from: it was compiled, shared or loaded.
#ifndef EMBER_JIT_BACKEND_CODE_ORIGIN_H_
#define EMBER_JIT_BACKEND_CODE_ORIGIN_H_

#include <cstdint>

namespace ember::jit {

enum class CodeOrigin : uint8_t {
  kCompiled,
  kShared,  // shared with an equal nest whose code this process already had
  kLoaded   // loaded from the kernel cache on disk
};

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_CODE_ORIGIN_H_
