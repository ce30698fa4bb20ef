// The back end for OpenCL. It emits programs of OpenCL C.
#ifndef EMBER_JIT_OPENCL_BACKEND_H_
#define EMBER_JIT_OPENCL_BACKEND_H_

#include "jit/backend/backend.h"

namespace ember::jit {

extern const Backend kOpenClBackend;

}  // namespace ember::jit

#endif  // EMBER_JIT_OPENCL_BACKEND_H_
