// Starts a program that outlives this process and shares nothing with it.
//
//   EMBER_RETURN_IF_ERROR(StartProcess("/usr/lib/ember/ember-compile-worker",
//                                      {"--listen=3"}, listener.get()));
//
// A library must hide from a host that it starts programs: the host gets no
// SIGCHLD and has no child to wait for. The program gets none of its open files
// except `descriptor`, as number 3. Input and output of the program are
// /dev/null. The program has a process group of its own, so that a signal from
// the terminal that ends the host does not end it. Linux. Thread-safe.
#ifndef EMBER_JIT_WORKER_START_PROCESS_H_
#define EMBER_JIT_WORKER_START_PROCESS_H_

#include <string>
#include <vector>

#include "base/status.h"

namespace ember::jit {

// Starts the program. program: a path; arguments: those after the program's
// name; descriptor: the open file that it gets as number 3. Returns an error if
// the program could not be started.
Status StartProcess(const std::string& program,
                    const std::vector<std::string>& arguments, int descriptor);

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_START_PROCESS_H_
