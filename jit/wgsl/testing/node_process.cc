#include "jit/wgsl/testing/node_process.h"

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/concat.h"

extern char** environ;

namespace ember::jit::wgsl {

StatusOr<std::unique_ptr<NodeProcess>> NodeProcess::Start(
    const std::vector<std::string>& command) {
  // Sockets, because a write to the socket of a process that ended is an error,
  // and a signal where it is a pipe.
  int input[2], output[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) != 0)
    return InternalError(Concat({"socketpair: ", std::strerror(errno)}));
  FileDescriptor own_input(input[0]), its_input(input[1]);
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, output) != 0)
    return InternalError(Concat({"socketpair: ", std::strerror(errno)}));
  FileDescriptor own_output(output[0]), its_output(output[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, its_input.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, its_output.get(), STDOUT_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int failed = ::posix_spawnp(&process, arguments[0], &actions, nullptr,
                                    arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return NotFoundError(Concat({command[0], ": ", std::strerror(failed)}));
  return std::unique_ptr<NodeProcess>(
      new NodeProcess(process, std::move(own_input), std::move(own_output)));
}

NodeProcess::~NodeProcess() {
  input_ = FileDescriptor();
  ::waitpid(process_, nullptr, 0);
}

StatusOr<std::string> NodeProcess::ReadLine() {
  size_t end;
  while ((end = read_.find('\n')) == std::string::npos) {
    char bytes[1 << 16];
    const ssize_t count = ::read(output_.get(), bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return InternalError("the process of Node ended");
    read_.append(bytes, static_cast<size_t>(count));
  }
  std::string line = read_.substr(0, end);
  read_.erase(0, end + 1);
  return line;
}

StatusOr<std::string> NodeProcess::Ask(std::string_view line) {
  const std::string text = Concat({line, "\n"});
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::send(input_.get(), text.data() + sent,
                                 text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return InternalError("the process of Node ended");
    sent += static_cast<size_t>(count);
  }
  return ReadLine();
}

}  // namespace ember::jit::wgsl
