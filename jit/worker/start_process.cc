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

// Whoever calls clone by that name under ThreadSanitizer is told of a fork,
// and that is noted in the memory that both processes share: the host would
// then be a process that forked, and die when it starts its next thread.
#if defined(__SANITIZE_THREAD__)
#define EMBER_IS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EMBER_IS_TSAN 1
#endif
#endif
#ifdef EMBER_IS_TSAN
extern "C" int __clone(int (*function)(void*), void* stack, int flags,
                       void* argument, ...);
#endif

namespace ember::jit {
namespace {

int Clone(int (*function)(void*), void* stack, void* argument) {
  // No signal when it ends: its number would be in the flags' lowest byte.
  constexpr int kFlags = CLONE_VM | CLONE_VFORK;
#ifdef EMBER_IS_TSAN
  return __clone(function, stack, kFlags, argument);
#else
  return clone(function, stack, kFlags, argument);
#endif
}

constexpr size_t kStackBytes = size_t{64} << 10;
constexpr int kPassedDescriptor = 3;

// What the processes in between share with this one: they run in its memory,
// while it waits, and so may only make system calls. Those that a sanitizer
// keeps accounts of are called by number: its accounts are this process's, too.
struct Start {
  const char* program;
  char* const* arguments;
  int descriptor;
  char* stack_top;  // of the second
  int error = 0;    // of what failed
};

[[noreturn]] void Exit(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

void ResetSignals() {
  // The kernel's own struct, which differs between machines: all zeros is
  // SIG_DFL, no flags and an empty mask in each.
  const char plain[64] = {};
  for (int number = 1; number < NSIG; ++number)
    syscall(SYS_rt_sigaction, number, plain, nullptr, (NSIG - 1) / 8);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// As dup2, with which one that is there already stays open.
void CopyDescriptor(int from, int to) {
  if (from == to) {
    fcntl(to, F_SETFD, 0);
  } else {
    syscall(SYS_dup3, from, to, 0);
  }
}

int RunProgram(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  setpgid(0, 0);
  const auto null = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC));
  // A copy above what is overwritten next.
  const int passed = fcntl(start.descriptor, F_DUPFD, kPassedDescriptor + 1);
  if (null < 0 || passed < 0) {
    start.error = errno;
    Exit(1);
  }
  for (int number = 0; number < kPassedDescriptor; ++number)
    CopyDescriptor(null, number);
  CopyDescriptor(passed, kPassedDescriptor);
  syscall(SYS_close_range, kPassedDescriptor + 1, ~0U, 0U);
  // Handlers are shared with nobody, as CLONE_SIGHAND was not asked for.
  ResetSignals();
  execve(start.program, start.arguments, environ);
  start.error = errno;
  Exit(1);
}

// Ends at once: what it started belongs to init then.
int RunBetween(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  if (Clone(RunProgram, start.stack_top, argument) < 0) start.error = errno;
  Exit(0);
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
  const pid_t between = Clone(RunBetween, bottom + 2 * kStackBytes, &start);
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
