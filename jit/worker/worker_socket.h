// Where the compile worker of a user and program is found: a socket in a folder
// that only this user can write to.
//
//   EMBER_ASSIGN_OR_RETURN(WorkerPlace place, FindWorkerPlace(program, ""));
//   EMBER_ASSIGN_OR_RETURN(FileDescriptor client, ConnectOrStart(place, …));
//
// One worker serves all processes of a user that use the same program file and
// LLVM library beside it: the socket's name follows from those files, so that
// another version has another worker. The socket is made by whoever wants a
// worker first, who holds the lock meanwhile; the worker that he starts
// inherits it. So a worker that was killed leaves a socket at which nobody
// listens, and the next client replaces it. Linux. Thread-safe.
#ifndef EMBER_JIT_WORKER_WORKER_SOCKET_H_
#define EMBER_JIT_WORKER_WORKER_SOCKET_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/file_descriptor.h"
#include "base/status.h"
#include "jit/worker/protocol.h"

namespace ember::jit {

struct WorkerPlace {
  std::string socket;
  std::string lock;
};

// folder: empty for the user's own: $XDG_RUNTIME_DIR/ember, else
// /tmp/ember-UID. It is made; an error if others may write to it, the program
// is not there, or the path is too long for a socket.
StatusOr<WorkerPlace> FindWorkerPlace(const std::string& program,
                                      const std::string& folder);

// Tells one socket at a path from another that was there before.
struct SocketIdentity {
  uint64_t inode = 0;
  int64_t changed_ns = 0;
  bool operator==(const SocketIdentity&) const = default;
};

// Of a place's socket.
class WorkerSocket {
 public:
  // The one that is there now, for RemoveIfUnused.
  WorkerSocket(std::string socket, std::string lock);

  // Removes it unless a client has connected to the listener meanwhile; whether
  // it did, or it is another by now.
  bool RemoveIfUnused(int listener) const;

 private:
  const std::string socket_;
  const std::string lock_;
  SocketIdentity identity_;
};

struct ConnectedSocket {
  FileDescriptor descriptor;
  SocketIdentity identity;  // of the worker's socket
};

// Connects to the worker; where nobody listens, or only at the socket `avoid`,
// `start` starts one with that listener.
StatusOr<ConnectedSocket> ConnectOrStart(
    const WorkerPlace& place, const SocketIdentity& avoid,
    const std::function<Status(const FileDescriptor& listener)>& start);

// A client, or a negative number if none came for so long.
int AcceptFor(int listener, std::chrono::milliseconds patience);

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_WORKER_SOCKET_H_
