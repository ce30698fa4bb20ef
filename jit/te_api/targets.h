// Targets of the C API for kernels, by the names that people use.
#ifndef EMBER_JIT_TE_API_TARGETS_H_
#define EMBER_JIT_TE_API_TARGETS_H_

#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::te_api {

// Returns the text of the target (base/target_text.h) with this name: "host",
// or a name of jit/target/compile_target.h.
StatusOr<std::string> TargetText(std::string_view name);

// Returns the text of a target for which the C API can compile code: this
// machine ("host"), or a target whose code is not made by LLVM for another CPU.
// Errors also say which target to use instead.
StatusOr<std::string> TargetForCode(std::string_view name);

}  // namespace ember::te_api

#endif  // EMBER_JIT_TE_API_TARGETS_H_
