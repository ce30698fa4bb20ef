// A compiler that is another process: the compile worker, which a user's
// processes share.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
//                          NewRemoteCompiler({.program = path}));
//   compiler->CompileToCode(nest, options, &figures);
//
// So a host has none of LLVM's work in its memory or on its threads, and none
// of its crashes and endless loops: those cost the kernel that was being
// compiled, and the others that wait are asked of a new worker. A worker that
// gives no sign of life (it was stopped, say) is replaced. It is started when
// it is needed, ends when nobody needed it for a minute, and runs with a low
// priority (kWorkerNiceness of jit/background_thread.h), as a program that a
// user can see, stop and kill.
//
// Compiling into an object file is not what it is for (kUnimplemented).
// Thread-safe; Stop ends what waits.
#ifndef EMBER_JIT_WORKER_WORKER_CLIENT_H_
#define EMBER_JIT_WORKER_WORKER_CLIENT_H_

#include <chrono>
#include <memory>
#include <string>

#include "base/status.h"
#include "jit/backend/object_compiler.h"

namespace ember::jit {

// Its file's name.
inline constexpr char kWorkerProgram[] = "ember-compile-worker";

struct WorkerOptions {
  std::string program;  // its path
  std::string folder;   // FindWorkerPlace
  // Without a sign of life, which a worker gives every second.
  std::chrono::milliseconds patience{20'000};
  // ServeOptions; below a second is as good as one.
  std::chrono::milliseconds most_time{60'000};
  std::chrono::milliseconds idle{60'000};
  // How many workers may end while they compile one nest.
  int most_deaths = 2;
};

// Connects, and starts the worker if there is none: its greeting tells the
// identity. Errors: what keeps it from being started or found.
StatusOr<std::unique_ptr<ObjectCompiler>> NewRemoteCompiler(
    WorkerOptions options);

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_WORKER_CLIENT_H_
