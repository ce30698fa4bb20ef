// The back end for CUDA. It emits PTX, or machine code of this process for an
// emulated GPU (hal/cuda/emulated).
#ifndef EMBER_JIT_PTX_BACKEND_H_
#define EMBER_JIT_PTX_BACKEND_H_

#include "jit/backend/backend.h"

namespace ember::jit {

extern const Backend kCudaBackend;

}  // namespace ember::jit

#endif  // EMBER_JIT_PTX_BACKEND_H_
