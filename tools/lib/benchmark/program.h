// Runs another program and returns what it prints.
//
//   EMBER_ASSIGN_OR_RETURN(std::string text, RunProgram({"node", "--version"}));
//
// The program is looked for in $PATH. Its stderr is this process's. It is
// killed when the calling thread or its process ends. Errors: kNotFound if
// there is no such program; its exit status is not 0. Call RunProgram while the
// process has only one thread, as it forks.
#ifndef EMBER_TOOLS_LIB_BENCHMARK_PROGRAM_H_
#define EMBER_TOOLS_LIB_BENCHMARK_PROGRAM_H_

#include <string>
#include <vector>

#include "base/status.h"

namespace ember::tools {

StatusOr<std::string> RunProgram(const std::vector<std::string>& command);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_PROGRAM_H_
