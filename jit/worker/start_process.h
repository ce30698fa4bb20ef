// Starts a program that outlives this process and has nothing of it.
//
//   EMBER_RETURN_IF_ERROR(StartProcess("/usr/lib/ember/ember-compile-worker",
//                                      {"--listen=3"}, listener.get()));
//
// A library must not show a host that it starts programs: the host gets no
// SIGCHLD, has no child to wait for, and none of its open files go to the
// program but `descriptor`, which it has as number 3. Input and output of the
// program are /dev/null; its group of processes is its own, so that what ends
// the host by the terminal does not end it. Linux. Thread-safe.
#ifndef EMBER_JIT_WORKER_START_PROCESS_H_
#define EMBER_JIT_WORKER_START_PROCESS_H_

#include <string>
#include <vector>

#include "base/status.h"

namespace ember::jit {

// program: a path; arguments: behind the program's name. An error if the
// program could not be started.
Status StartProcess(const std::string& program,
                    const std::vector<std::string>& arguments, int descriptor);

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_START_PROCESS_H_
