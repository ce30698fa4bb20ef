// Runs a function in a child process and returns its answer.
//
//   EMBER_ASSIGN_OR_RETURN(std::string answer,
//                          RunInChild([] { return Work(); }, 60));
//
// It is meant for measurements that must not disturb each other, and for work
// that may crash or hang. The caller must have one thread only. Errors of the
// function come back as they are; a crash, a timeout and an unexpected end are
// kInternal. The child is killed when the calling thread or its process ends.
#ifndef EMBER_TOOLS_LIB_BENCHMARK_CHILD_H_
#define EMBER_TOOLS_LIB_BENCHMARK_CHILD_H_

#include <functional>
#include <string>

#include "base/status.h"

namespace ember::tools {

// Runs the function in a child process and returns its answer.
// `timeout_seconds` 0: there is no time limit.
StatusOr<std::string> RunInChild(
    const std::function<StatusOr<std::string>()>& work,
    unsigned timeout_seconds);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_CHILD_H_
