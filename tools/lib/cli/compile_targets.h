// Finds the targets, such as "aarch64+dotprod", that a command line names.
//
//   EMBER_ASSIGN_OR_RETURN(const std::vector<jit::CompileTarget> targets,
//                          FindCompileTargets({"host,aarch64+dotprod", "@file"}));
//
// Paths are as the user typed them. Errors name the target, what was expected
// and what was found. If other tools use this name for a target, they also
// suggest Ember's name.
#ifndef EMBER_TOOLS_LIB_CLI_COMPILE_TARGETS_H_
#define EMBER_TOOLS_LIB_CLI_COMPILE_TARGETS_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "jit/target/compile_target.h"

namespace ember::tools {

// Returns the targets that the values of --target=T,T,@FILE name. A file has
// one target per line; a '#' begins a comment.
StatusOr<std::vector<jit::CompileTarget>> FindCompileTargets(
    const std::vector<std::string>& flags);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_COMPILE_TARGETS_H_
