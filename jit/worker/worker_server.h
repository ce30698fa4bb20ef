// The compile worker's side: takes jobs from processes of this user, compiles
// one after the other, and answers.
//
//   FileDescriptor listener(3);  // bound to options.socket, and listening
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
//                          NewLlvmCompiler());
//   Serve(std::move(listener), *compiler, options);  // until it has been idle
//
// A job whose compilation does not end is answered with an error, and then the
// process ends, as there is no other way to stop it. Other clients then ask
// another worker (worker_client.h).
#ifndef EMBER_JIT_WORKER_WORKER_SERVER_H_
#define EMBER_JIT_WORKER_WORKER_SERVER_H_

#include <chrono>
#include <string>

#include "base/file_descriptor.h"
#include "jit/backend/object_compiler.h"
#include "jit/worker/protocol.h"

namespace ember::jit {

struct ServeOptions {
  // The path that the listener is bound to, and the file that must be locked to
  // make or remove it (worker_client.h).
  std::string socket;
  std::string lock;
  // Number of jobs that are compiled at once.
  int threads = 1;
  // The server ends if no job comes in this time.
  std::chrono::milliseconds idle{60'000};
  // Time on a core that one compilation may take; it may take twenty times that
  // by the wall clock.
  std::chrono::milliseconds most_time{60'000};
};

// Runs the server in a process that does nothing else and ends when this
// returns. The process's threads still use the compiler: end with _exit.
void Serve(FileDescriptor listener, ObjectCompiler& compiler,
           const ServeOptions& options);

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_WORKER_SERVER_H_
