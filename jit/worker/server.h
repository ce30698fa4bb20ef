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
// another worker (client.h).
#ifndef EMBER_JIT_WORKER_SERVER_H_
#define EMBER_JIT_WORKER_SERVER_H_

#include <chrono>
#include <string>

#include "base/file_descriptor.h"
#include "jit/backend/object_compiler.h"
#include "jit/worker/protocol.h"

namespace ember::jit {

struct ServeOptions {
  // `socket`: path of the socket that listens. `lock`: path of the file that a
  // process must lock before it makes or removes the socket (client.h).
  std::string socket;
  std::string lock;
  // Number of threads that compile. Each compiles one job at a time.
  int threads = 1;
  // Time without a job after which the server ends.
  std::chrono::milliseconds idle{60'000};
  // Largest processor time of one compilation. The wall-clock time may be
  // twenty times as long.
  std::chrono::milliseconds most_time{60'000};
};

// Runs the server until it has been idle. The process must do nothing else, and
// must end with _exit after this returns, because its threads still use the
// compiler.
void Serve(FileDescriptor listener, ObjectCompiler& compiler,
           const ServeOptions& options);

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_SERVER_H_
