// Loads the JIT's shared library, jit/libember_jit.so in a folder around this
// program.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<jit::Jit> jit,
//                          LoadJit({.threads = 0}));
#ifndef EMBER_TOOLS_LIB_CLI_LOAD_JIT_H_
#define EMBER_TOOLS_LIB_CLI_LOAD_JIT_H_

#include <memory>

#include "base/status.h"
#include "jit/jit.h"

namespace ember::tools {

// Loads the library and makes a JIT. The library stays loaded, as kernels live
// in it. A kernel cache that cannot be used is reported on stderr, once.
// Errors: the JIT's library or the compiler that it needs is missing.
StatusOr<std::shared_ptr<jit::Jit>> LoadJit(jit::JitOptions options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_LOAD_JIT_H_
