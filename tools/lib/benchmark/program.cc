#include "tools/lib/benchmark/program.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/concat.h"

namespace ember::tools {
namespace {

// The exit status of a child that could not start the program; shells use the
// same.
constexpr int kNotStarted = 127;

[[noreturn]] void Start(const std::vector<std::string>& command, pid_t parent,
                        int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent ended before prctl was called, so the kernel will not kill this
  // process.
  if (getppid() != parent) _exit(1);
  dup2(output, STDOUT_FILENO);
  std::vector<char*> arguments;
  // The casts are safe: execvp takes pointers to non-const characters, but does
  // not change them.
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(kNotStarted);
}

std::string ReadAll(int file) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t count = read(file, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

}  // namespace

StatusOr<std::string> RunProgram(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe(ends) != 0)
    return InternalError(Concat({"pipe: ", std::strerror(errno)}));
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return InternalError(Concat({"fork: ", std::strerror(errno)}));
  if (child == 0) {
    close(ends[0]);
    Start(command, parent, ends[1]);
  }
  close(ends[1]);
  std::string text = ReadAll(ends[0]);
  close(ends[0]);
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return text;
  if (WIFEXITED(state) && WEXITSTATUS(state) == kNotStarted)
    return NotFoundError(Concat({"no program '", command[0], "' in $PATH"}));
  if (WIFSIGNALED(state))
    return InternalError(
        Concat({command[0], " crashed: ", strsignal(WTERMSIG(state))}));
  return InternalError(
      Concat({command[0], " ended with exit status ", WEXITSTATUS(state)}));
}

}  // namespace ember::tools
