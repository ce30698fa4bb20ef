// The compile worker's side: takes jobs from processes of this user, compiles
// one after the other, and answers.
//
//   FileDescriptor listener(3);  // bound to options.socket, and listening
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
//                          NewLlvmCompiler());
//   Serve(std::move(listener), *compiler, options);  // until nobody wants it
//
// A job whose compilation does not end is answered, and then the process ends,
// as there is no other way to stop it; clients ask another worker for what they
// wait for (worker_client.h).
#ifndef EMBER_JIT_WORKER_WORKER_SERVER_H_
#define EMBER_JIT_WORKER_WORKER_SERVER_H_

#include <chrono>
#include <string>

#include "base/file_descriptor.h"
#include "jit/backend/object_compiler.h"
#include "jit/worker/protocol.h"

namespace ember::jit {

struct ServeOptions {
  // Where the listener is bound, and the file that is locked by whoever makes
  // or removes that (worker_client.h).
  std::string socket;
  std::string lock;
  // Jobs that are compiled at once.
  int threads = 1;
  // It ends when no job came for so long.
  std::chrono::milliseconds idle{60'000};
  // Time on a core that one compilation may take, and twenty times that by the
  // clock on the wall.
  std::chrono::milliseconds most_time{60'000};
};

// Of a process that does nothing else, and ends when it returns. The compiler
// outlives the process's threads: end with _exit.
void Serve(FileDescriptor listener, ObjectCompiler& compiler,
           const ServeOptions& options);

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_WORKER_SERVER_H_
