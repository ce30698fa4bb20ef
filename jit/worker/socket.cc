#include "jit/worker/socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/concat.h"
#include "base/private_folder.h"
#include "base/sha256.h"
#include "jit/llvm/library/llvm_library.h"

namespace ember::jit {
namespace {

// largest number of clients that wait to be accepted
constexpr int kWaiting = 64;

Status Error(const std::string& what) {
  return FailedPreconditionError(Concat({what, ": ", std::strerror(errno)}));
}

std::string DefaultFolder() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/')
    return Concat({runtime, "/ember"});
  return "/tmp/ember-" + std::to_string(geteuid());
}

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

SocketIdentity IdentityOf(const std::string& path) {
  struct stat about = {};
  if (lstat(path.c_str(), &about) != 0) return {};
  return {about.st_ino, int64_t{about.st_ctim.tv_sec} * 1'000'000'000 +
                            about.st_ctim.tv_nsec};
}

// Locks the file. The lock is held while the descriptor lives. Returns a
// descriptor that is not open if locking fails.
FileDescriptor Lock(const std::string& path) {
  FileDescriptor file(
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  int result = -1;
  do {
    result = file.is_open() ? flock(file.get(), LOCK_EX) : 0;
  } while (result != 0 && errno == EINTR);
  return file;
}

// Returns a connection to the socket. The descriptor is not open if no process
// listens.
FileDescriptor Connect(const std::string& path) {
  FileDescriptor client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = AddressOf(path);
  if (client.is_open() &&
      connect(client.get(), reinterpret_cast<const sockaddr*>(&address),
              sizeof address) == 0) {
    return client;
  }
  return {};
}

StatusOr<FileDescriptor> Listen(const std::string& path) {
  unlink(path.c_str());
  FileDescriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = AddressOf(path);
  if (!listener.is_open() ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address),
           sizeof address) != 0 ||
      listen(listener.get(), kWaiting) != 0) {
    return Error(path);
  }
  return listener;
}

// Returns a text that identifies the present contents of this path: it differs
// for other paths, and for earlier files at the same path.
StatusOr<std::string> VersionOf(const std::string& path) {
  struct stat about = {};
  if (stat(path.c_str(), &about) != 0) return Error(path);
  return Concat({path, " ", std::to_string(about.st_dev), " ",
                 std::to_string(about.st_ino), " ",
                 std::to_string(about.st_size), " ",
                 std::to_string(about.st_mtim.tv_sec), ".",
                 std::to_string(about.st_mtim.tv_nsec), " "});
}

}  // namespace

StatusOr<WorkerPaths> FindWorkerPaths(const std::string& program,
                                      const std::string& folder) {
  EMBER_ASSIGN_OR_RETURN(std::string version, VersionOf(program));
  // If LLVM's library is missing, a worker is started all the same; it reports
  // the error when it needs the library.
  if (const auto library =
          llvm_ir::FindLlvmLibrary(program.substr(0, program.rfind('/')));
      library.ok()) {
    EMBER_ASSIGN_OR_RETURN(const std::string code, VersionOf(*library));
    version += code;
  }
  const std::string used = folder.empty() ? DefaultFolder() : folder;
  EMBER_RETURN_IF_ERROR(PrivateFolder::Open(used).status());
  constexpr size_t kDigits = 16;
  const std::string base =
      Concat({used, "/worker-", ToHex(Sha256({version})).substr(0, kDigits)});
  if (base.size() + sizeof ".socket" > sizeof sockaddr_un::sun_path) {
    return FailedPreconditionError(
        Concat({used, ": expected a shorter path of a folder for sockets"}));
  }
  return WorkerPaths{base + ".socket", base + ".lock"};
}

WorkerSocket::WorkerSocket(std::string socket, std::string lock)
    : socket_(std::move(socket)),
      lock_(std::move(lock)),
      identity_(IdentityOf(socket_)) {}

bool WorkerSocket::RemoveIfUnused(int listener) const {
  const FileDescriptor lock = Lock(lock_);
  if (IdentityOf(socket_) != identity_) return true;
  pollfd entry = {.fd = listener, .events = POLLIN, .revents = 0};
  if (poll(&entry, 1, 0) > 0) return false;
  unlink(socket_.c_str());
  return true;
}

StatusOr<ConnectedSocket> ConnectOrStart(
    const WorkerPaths& paths, const SocketIdentity& avoid,
    const std::function<Status(const FileDescriptor& listener)>& start) {
  const auto connect = [&]() -> ConnectedSocket {
    // The identity is read before connecting. If the socket is replaced between
    // the two steps, the identity is that of the older socket: a later attempt
    // to avoid this socket then finds another identity and connects again,
    // which is harmless.
    const SocketIdentity identity = IdentityOf(paths.socket);
    if (identity == avoid) return {};
    return {Connect(paths.socket), identity};
  };
  ConnectedSocket connected = connect();
  if (connected.descriptor.is_open()) return connected;
  const FileDescriptor lock = Lock(paths.lock);
  if (!lock.is_open()) return Error(paths.lock);
  connected = connect();
  if (connected.descriptor.is_open()) return connected;
  EMBER_ASSIGN_OR_RETURN(const FileDescriptor listener, Listen(paths.socket));
  const Status started = start(listener);
  if (!started.ok()) {
    unlink(paths.socket.c_str());
    return started;
  }
  connected = connect();
  if (connected.descriptor.is_open()) return connected;
  return Error(paths.socket);
}

int AcceptFor(int listener, std::chrono::milliseconds patience) {
  pollfd entry = {.fd = listener, .events = POLLIN, .revents = 0};
  if (poll(&entry, 1, static_cast<int>(patience.count())) <= 0) return -1;
  return accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
}

}  // namespace ember::jit
