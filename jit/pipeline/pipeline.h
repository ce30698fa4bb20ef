// The pipeline of the JIT, from a dispatch to code: one readable list for
// people and tools. jit/pipeline/nest_passes.h and target_passes.h run its two
// parts.
//
//   std::fputs(PrintPipeline().c_str(), stdout);
//
// Thread-safe.
#ifndef EMBER_JIT_PIPELINE_PIPELINE_H_
#define EMBER_JIT_PIPELINE_PIPELINE_H_

#include <string>
#include <string_view>
#include <vector>

#include "jit/pipeline/pass.h"

namespace ember::jit {

// Returns the passes, in execution order.
std::vector<PassInfo> Pipeline();

// Returns a table of the passes: number, name, targets, and what they do. The
// legalisation rules are listed after the pass that applies them.
std::string PrintPipeline();

// Returns the names of the passes that may be disabled.
std::vector<std::string_view> PassesThatMayBeDisabled();

}  // namespace ember::jit

#endif  // EMBER_JIT_PIPELINE_PIPELINE_H_
