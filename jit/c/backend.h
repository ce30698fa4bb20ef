// The row of plain C in the table of back ends (jit/registry/backends.h):
// kernels for processors that only have a C compiler. Tests use it, and files
// that are made ahead of time. Its code is not run in this process.
#ifndef EMBER_JIT_C_BACKEND_H_
#define EMBER_JIT_C_BACKEND_H_

#include "jit/backend/backend.h"

namespace ember::jit {

extern const Backend kCBackend;

}  // namespace ember::jit

#endif  // EMBER_JIT_C_BACKEND_H_
