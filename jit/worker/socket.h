// Finds the compile worker of a user and program: a socket in a folder that
// only this user can write to.
//
//   EMBER_ASSIGN_OR_RETURN(WorkerPaths paths, FindWorkerPaths(program, ""));
//   EMBER_ASSIGN_OR_RETURN(FileDescriptor client, ConnectOrStart(paths, …));
//
// One worker serves all processes of a user that use the same program file and
// the same LLVM library in its folder: the socket's name follows from those
// files, so another version has another worker. The first client that needs a
// worker makes the socket while it holds the lock; the worker that it starts
// inherits the socket. So a worker that was killed leaves a socket without a
// listener, and the next client replaces it. Linux. Thread-safe.
#ifndef EMBER_JIT_WORKER_SOCKET_H_
#define EMBER_JIT_WORKER_SOCKET_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/file_descriptor.h"
#include "base/status.h"
#include "jit/worker/protocol.h"

namespace ember::jit {

struct WorkerPaths {
  std::string socket;
  std::string lock;
};

// Returns the paths of the worker of the program. folder: empty for the user's
// own: $XDG_RUNTIME_DIR/ember or, if the variable is no absolute path,
// /tmp/ember-UID. The folder is made if it does not exist. Errors: others may
// write to it, the program is not there, or the path is too long for a socket.
StatusOr<WorkerPaths> FindWorkerPaths(const std::string& program,
                                      const std::string& folder);

// Identifies a socket among those that were successively at one path, so that a
// client can see that a worker was replaced.
struct SocketIdentity {
  uint64_t inode = 0;
  int64_t changed_ns = 0;
  bool operator==(const SocketIdentity&) const = default;
};

// The worker's own socket, which it removes when it ends.
class WorkerSocket {
 public:
  // Records the identity of the socket that is at the path when this is called,
  // for RemoveIfUnused.
  WorkerSocket(std::string socket, std::string lock);

  // Removes the socket unless a client has connected meanwhile. Returns true if
  // the worker may end: the socket was removed, or another worker's socket has
  // replaced it.
  bool RemoveIfUnused(int listener) const;

 private:
  const std::string socket_;
  const std::string lock_;
  SocketIdentity identity_;
};

struct ConnectedSocket {
  FileDescriptor descriptor;
  // identity of the socket through which the worker was reached
  SocketIdentity identity;
};

// Connects to the worker. If no process listens, or only that of the socket
// `avoid`, calls `start`, which starts a worker with the given listener.
StatusOr<ConnectedSocket> ConnectOrStart(
    const WorkerPaths& paths, const SocketIdentity& avoid,
    const std::function<Status(const FileDescriptor& listener)>& start);

// Accepts a client. Returns its socket, or a negative number if none came
// within `patience`.
int AcceptFor(int listener, std::chrono::milliseconds patience);

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_SOCKET_H_
