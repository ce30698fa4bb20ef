// Finds the compile worker's program.
#ifndef EMBER_JIT_WORKER_FIND_WORKER_H_
#define EMBER_JIT_WORKER_FIND_WORKER_H_

#include <string>

namespace ember::jit {

// Returns the path of the worker's program. It is in the folder of the library
// or program that this function was linked into, or, as in a build, in the
// folder "worker" there. Neither the environment nor the working folder
// matters. Empty if there is no such file. Thread-safe.
std::string FindWorkerProgram();

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_FIND_WORKER_H_
