// Loads the JIT's shared library, jit/libember_jit.so in a folder around this
// program.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<jit::Jit> jit,
//                          LoadJit({.threads = 0}));
#ifndef EMBER_TOOLS_LIB_CLI_LOAD_JIT_H_
#define EMBER_TOOLS_LIB_CLI_LOAD_JIT_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "jit/jit.h"
#include "jit/pipeline/pass.h"

namespace ember::tools {

// Loads the library and makes a JIT. The library is never unloaded, because
// kernels use its code. If the kernel cache cannot be used, a line on stderr
// says so, once. Errors: the JIT's library or the compiler that it needs is
// missing.
StatusOr<std::shared_ptr<jit::Jit>> LoadJit(jit::JitOptions options);

// The passes of the JIT, as the library lists them (jit/pipeline/pipeline.h).
struct JitPipeline {
  std::vector<jit::PassInfo> passes;  // The texts in PassInfo live as long as
                                      // the library.
  std::string text;
};

// Loads the library and returns its pipeline. Errors: those of LoadJit.
StatusOr<JitPipeline> LoadJitPipeline();

// Returns an error unless all names are passes of the JIT that may be disabled.
// `flag` is the flag that lists them, for the error message.
Status CheckDisabledPasses(std::string_view flag,
                           std::span<const std::string> names);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_LOAD_JIT_H_
