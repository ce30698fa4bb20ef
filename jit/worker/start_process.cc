#include "jit/worker/start_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/concat.h"

namespace ember::jit {
namespace {

constexpr size_t kStackBytes = size_t{64} << 10;
constexpr int kPassedDescriptor = 3;

// What the processes in between share with this one: they run in its memory,
// while it waits, and so may only make system calls.
struct Start {
  const char* program;
  char* const* arguments;
  int descriptor;
  char* stack_top;  // of the second
  int error = 0;    // of what failed
};

void ResetSignals() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction plain = {};
    plain.sa_handler = SIG_DFL;
    sigaction(number, &plain, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

int RunProgram(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  setpgid(0, 0);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  // A copy above what is overwritten next.
  const int passed = fcntl(start.descriptor, F_DUPFD, kPassedDescriptor + 1);
  if (null < 0 || passed < 0) {
    start.error = errno;
    _exit(1);
  }
  for (int number = 0; number < kPassedDescriptor; ++number) dup2(null, number);
  dup2(passed, kPassedDescriptor);
  syscall(SYS_close_range, kPassedDescriptor + 1, ~0U, 0U);
  // Handlers are shared with nobody, as CLONE_SIGHAND was not asked for.
  ResetSignals();
  execve(start.program, start.arguments, environ);
  start.error = errno;
  _exit(1);
}

// Ends at once: what it started belongs to init then.
int RunBetween(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  if (clone(RunProgram, start.stack_top, CLONE_VM | CLONE_VFORK, argument) < 0)
    start.error = errno;
  _exit(0);
}

}  // namespace

Status StartProcess(const std::string& program,
                    const std::vector<std::string>& arguments, int descriptor) {
  std::vector<char*> list = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments)
    list.push_back(const_cast<char*>(argument.c_str()));
  list.push_back(nullptr);
  void* const stacks = mmap(nullptr, 2 * kStackBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stacks == MAP_FAILED) return ResourceExhaustedError("no stack");
  char* const bottom = static_cast<char*>(stacks);
  Start start{program.c_str(), list.data(), descriptor, bottom + kStackBytes};
  // No handler of the host's runs in its memory in another process.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // No signal when it ends: its number would be in the flags' lowest byte.
  const pid_t between = clone(RunBetween, bottom + 2 * kStackBytes,
                              CLONE_VM | CLONE_VFORK, &start);
  const int error = errno;
  if (between > 0) {
    // Such children are seen by nobody who does not ask for them like this.
    while (waitpid(between, nullptr, __WCLONE) < 0 && errno == EINTR) {
    }
  } else {
    start.error = error;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  munmap(stacks, 2 * kStackBytes);
  if (start.error == 0) return OkStatus();
  return NotFoundError(Concat({program, ": ", std::strerror(start.error)}));
}

}  // namespace ember::jit
