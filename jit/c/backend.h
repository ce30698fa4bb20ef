// The back end for plain C, a row of the table of back ends
// (jit/registry/backends.h): it makes kernels for processors that only have a C
// compiler. Tests use it, and tools that write kernels ahead of time. Its
// kernels are source texts, which this process cannot run.
#ifndef EMBER_JIT_C_BACKEND_H_
#define EMBER_JIT_C_BACKEND_H_

#include "jit/backend/backend.h"

namespace ember::jit {

extern const Backend kCBackend;

}  // namespace ember::jit

#endif  // EMBER_JIT_C_BACKEND_H_
