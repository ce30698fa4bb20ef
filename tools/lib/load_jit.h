// The JIT's shared library, jit/libember_jit.so in a folder around this
// program: without it, or as long as nobody asks, a program runs without LLVM.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<jit::Jit> jit,
//                          LoadJit({.threads = 0}));
#ifndef EMBER_TOOLS_LIB_LOAD_JIT_H_
#define EMBER_TOOLS_LIB_LOAD_JIT_H_

#include <memory>

#include "base/status.h"
#include "jit/jit.h"

namespace ember::tools {

// The library stays loaded: kernels live in it. A kernel cache that cannot be
// used is reported on stderr. Errors: it is not there, or not
// usable on this machine.
StatusOr<std::shared_ptr<jit::Jit>> LoadJit(const jit::JitOptions& options);

// Loads it when a first kernel is requested, in a thread of its own, which also
// compiles; options.threads is at least 1. What LoadJit would say is the reason
// that every request is declined with.
std::shared_ptr<jit::Jit> NewLazyJit(jit::JitOptions options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_LOAD_JIT_H_
