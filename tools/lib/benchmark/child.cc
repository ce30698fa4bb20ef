#include "tools/lib/benchmark/child.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "tools/lib/cli/command_line_error.h"

namespace ember::tools {
namespace {

// The child sends its result through the pipe: one byte with the status code,
// then the answer or the error message. This bit of the byte is set if the
// error is one of the command line.
constexpr unsigned char kCommandLine = 0x80;

[[noreturn]] void RunChild(const std::function<StatusOr<std::string>()>& work,
                           unsigned timeout, pid_t parent, int pipe_end) {
  // From here on the kernel kills the child when its parent ends, even if the
  // parent crashes.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent ended before prctl was called, so the kernel will not kill this
  // process.
  if (getppid() != parent) _exit(1);
  alarm(timeout);
  const StatusOr<std::string> result = work();
  auto first = static_cast<unsigned char>(result.status().code());
  if (IsCommandLineError(result.status())) first |= kCommandLine;
  std::string sent(1, static_cast<char>(first));
  sent += result.ok() ? *result : std::string(result.status().message());
  size_t written = 0;
  while (written < sent.size()) {
    const ssize_t count =
        write(pipe_end, sent.data() + written, sent.size() - written);
    if (count <= 0) _exit(1);
    written += static_cast<size_t>(count);
  }
  std::fflush(nullptr);
  // The child ends by _exit, so that it does not run the destructors of the
  // parent's globals.
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
  // Output that is still buffered is written before the fork. Otherwise both
  // processes would write it.
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0)
    return InternalError(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    RunChild(work, timeout_seconds, parent, ends[1]);
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
  const auto first = static_cast<unsigned char>(received[0]);
  const auto code = static_cast<StatusCode>(first & ~kCommandLine);
  if (code == StatusCode::kOk) return received.substr(1);
  const Status error(code, received.substr(1));
  return (first & kCommandLine) != 0 ? AsCommandLineError(error) : error;
}

}  // namespace ember::tools
