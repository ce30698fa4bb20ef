// Where the compile worker's program lies.
#ifndef EMBER_JIT_WORKER_FIND_WORKER_H_
#define EMBER_JIT_WORKER_FIND_WORKER_H_

#include <string>

namespace ember::jit {

// Beside the library, or program, that this function was linked into, or in
// "worker" there, as it is built. Neither environment nor working folder are
// asked. Empty: it is not there. Thread-safe.
std::string FindWorkerProgram();

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_FIND_WORKER_H_
