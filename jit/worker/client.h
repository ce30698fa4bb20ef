// A compiler in another process: the compile worker, which a user's processes
// share.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
//                          NewRemoteCompiler({.program = path}));
//   compiler->CompileToCode(nest, options, &figures);
//
// So LLVM's work is neither in the host's memory nor on its threads, and its
// crashes and endless loops do not hit the host. They only cost the kernel that
// was being compiled; the other waiting jobs go to a new worker. A worker
// without a sign of life (it was stopped, say) is replaced. The worker is
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

// Name of the file of the worker's program.
inline constexpr char kWorkerProgram[] = "ember-compile-worker";

struct WorkerOptions {
  std::string program;  // path of the worker's program
  std::string folder;   // folder of the socket, as in FindWorkerPaths
  // Longest time without a sign of life after which a worker is replaced. A
  // worker gives one every second.
  std::chrono::milliseconds patience{20'000};
  // Options for the worker: see ServeOptions. Less than a second counts as one.
  std::chrono::milliseconds most_time{60'000};
  std::chrono::milliseconds idle{60'000};
  // Largest number of workers that may end while they compile one nest.
  int most_deaths = 2;
};

// Returns a compiler that asks the worker. This connects to the worker at once,
// and starts it if there is none, because the compiler's identity is in the
// worker's greeting. Errors: the reason why the worker cannot be started or
// found.
StatusOr<std::unique_ptr<ObjectCompiler>> NewRemoteCompiler(
    WorkerOptions options);

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_CLIENT_H_
