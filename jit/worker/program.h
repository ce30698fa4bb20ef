// Prepares a compile worker's program for serving: reads its arguments, lowers
// its priority, and limits its memory.
//
//   int main(int argc, char** argv) {
//     return RunWorker(argc, argv, [](auto compiler) { return compiler; });
//   }
#ifndef EMBER_JIT_WORKER_PROGRAM_H_
#define EMBER_JIT_WORKER_PROGRAM_H_

#include <functional>
#include <memory>

#include "jit/backend/object_compiler.h"

namespace ember::jit {

// Runs a worker until it is idle, and returns the process's exit status. `wrap`
// gets the compiler for this machine and returns the compiler to use, so that
// tests can replace it.
int RunWorker(int argc, char** argv,
              const std::function<std::unique_ptr<ObjectCompiler>(
                  std::unique_ptr<ObjectCompiler>)>& wrap);

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_PROGRAM_H_
