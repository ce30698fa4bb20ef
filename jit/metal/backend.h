// The back end for Metal. It emits programs of MSL.
#ifndef EMBER_JIT_METAL_BACKEND_H_
#define EMBER_JIT_METAL_BACKEND_H_

#include "jit/backend/backend.h"

namespace ember::jit {

extern const Backend kMetalBackend;

}  // namespace ember::jit

#endif  // EMBER_JIT_METAL_BACKEND_H_
