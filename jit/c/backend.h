// The row of plain C in the table of back ends (jit/backends.h): kernels for
// processors that there is a C compiler for and nothing else. Tests and files
// that are made before use it; nobody runs its code at once.
#ifndef EMBER_JIT_C_BACKEND_H_
#define EMBER_JIT_C_BACKEND_H_

#include "jit/backend/backend.h"

namespace ember::jit {

extern const Backend kCBackend;

}  // namespace ember::jit

#endif  // EMBER_JIT_C_BACKEND_H_
