// A compiler in another process: the compile worker, which a user's processes
// share.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
//                          NewRemoteCompiler({.program = path}));
//   compiler->CompileToCode(nest, options, &figures);
//
// So LLVM uses neither the memory nor the threads of the user's process (the
// host). A crash or endless loop of LLVM only costs the kernel that was being
// compiled: the other waiting jobs go to a new worker. A worker that gives no
// sign of life, for example because it was stopped, is replaced. The worker is
// started when it is needed and ends after a minute without jobs. It runs with
// a low priority (kWorkerNiceness of jit/worker/background_thread.h), as a
// program that a user can see, stop and kill.
//
// It does not compile into object files (kUnimplemented). Thread-safe; Stop
// ends waiting calls.
#ifndef EMBER_JIT_WORKER_CLIENT_H_
#define EMBER_JIT_WORKER_CLIENT_H_

#include <chrono>
#include <memory>
#include <string>

#include "base/status.h"
#include "jit/backend/object_compiler.h"

namespace ember::jit {

// file name of the worker's program
inline constexpr char kWorkerProgram[] = "ember-compile-worker";

struct WorkerOptions {
  std::string program;  // path of the file of the worker's program
  // folder of the socket through which processes reach the worker
  // (FindWorkerPaths)
  std::string folder;
  // Longest time without a sign of life from a worker before it is replaced. A
  // worker gives one every second while it has a job.
  std::chrono::milliseconds patience{20'000};
  // Values of ServeOptions with which the worker is started. Less than a second
  // counts as one.
  std::chrono::milliseconds most_time{60'000};
  std::chrono::milliseconds idle{60'000};
  // Largest number of workers that may end while they compile the same nest,
  // before the nest is declined.
  int most_deaths = 2;
};

// Returns a compiler that sends nests to the worker. It connects to the worker
// at once, and starts one if none runs, because the worker's greeting contains
// the compiler's identity. Errors: the reason why the worker cannot be started
// or found.
StatusOr<std::unique_ptr<ObjectCompiler>> NewRemoteCompiler(
    WorkerOptions options);

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_CLIENT_H_
