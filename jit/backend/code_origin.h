// The source of a kernel's code.
#ifndef EMBER_JIT_BACKEND_CODE_ORIGIN_H_
#define EMBER_JIT_BACKEND_CODE_ORIGIN_H_

#include <cstdint>

namespace ember::jit {

enum class CodeOrigin : uint8_t {
  kCompiled,
  kShared,  // shared with an equal nest of this process
  kLoaded   // from the kernel cache on disk
};

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_CODE_ORIGIN_H_
