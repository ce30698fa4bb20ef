#include "tools/lib/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace ember::tools {
namespace {

// Does the child's work. The child writes the status code as one byte to the
// pipe, then the answer or the message.
[[noreturn]] void RunChild(const std::function<StatusOr<std::string>()>& work,
                           unsigned timeout, int pipe_end) {
  alarm(timeout);
  const StatusOr<std::string> result = work();
  std::string sent(1, static_cast<char>(result.status().code()));
  sent += result.ok() ? *result : std::string(result.status().message());
  size_t written = 0;
  while (written < sent.size()) {
    const ssize_t count =
        write(pipe_end, sent.data() + written, sent.size() - written);
    if (count <= 0) _exit(1);
    written += static_cast<size_t>(count);
  }
  std::fflush(nullptr);
  // _exit skips the destructors of the parent's globals, which the child must
  // not run.
  _exit(0);
}

std::string ReadAll(int pipe_end) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t count = read(pipe_end, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

}  // namespace

StatusOr<std::string> RunInChild(
    const std::function<StatusOr<std::string>()>& work,
    unsigned timeout_seconds) {
  int ends[2];
  if (pipe(ends) != 0)
    return InternalError(std::string("pipe: ") + std::strerror(errno));
  // Writes buffered text before the fork: otherwise the child would print it a
  // second time.
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0)
    return InternalError(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    RunChild(work, timeout_seconds, ends[1]);
  }
  close(ends[1]);
  const std::string received = ReadAll(ends[0]);
  close(ends[0]);
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(state)) {
    if (WTERMSIG(state) == SIGALRM) {
      return InternalError("took longer than " +
                           std::to_string(timeout_seconds) + " s");
    }
    return InternalError(std::string("crashed: ") + strsignal(WTERMSIG(state)));
  }
  if (received.empty()) {
    return InternalError("ended early with exit status " +
                         std::to_string(WEXITSTATUS(state)));
  }
  const StatusCode code = static_cast<StatusCode>(received[0]);
  if (code == StatusCode::kOk) return received.substr(1);
  return Status(code, received.substr(1));
}

}  // namespace ember::tools
