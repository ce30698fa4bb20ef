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

// ThreadSanitizer intercepts the function `clone` and records a fork in the
// memory that both processes share. The host would then count as a forked
// process, and die when it starts its next thread. The same function under the
// name __clone is not intercepted.
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
  // The lowest byte of the flags is the signal that the parent gets when the
  // child ends. It is 0: the parent gets none.
  constexpr int kFlags = CLONE_VM | CLONE_VFORK;
#ifdef EMBER_IS_TSAN
  return __clone(function, stack, kFlags, argument);
#else
  return clone(function, stack, kFlags, argument);
#endif
}

constexpr size_t kStackBytes = size_t{64} << 10;
constexpr int kPassedDescriptor = 3;

// Data that the two intermediate processes share with the process that calls
// StartProcess. They run in its memory while it waits, and so may only make
// system calls. Calls that a sanitizer intercepts are made by number, because
// they would change the records that the sanitizer keeps in that memory.
struct Start {
  const char* program;
  char* const* arguments;
  int descriptor;
  // highest address of the stack of the second intermediate process
  char* stack_top;
  int error = 0;  // errno of the call that failed
};

[[noreturn]] void Exit(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

void ResetSignals() {
  // The zeros are a `struct sigaction` of the kernel, whose layout differs
  // between architectures. On each of them zeros mean SIG_DFL, no flags and an
  // empty mask.
  const char plain[64] = {};
  for (int number = 1; number < NSIG; ++number)
    syscall(SYS_rt_sigaction, number, plain, nullptr, (NSIG - 1) / 8);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Copies a descriptor as dup2 does. If both numbers are equal, makes sure that
// the descriptor stays open in the program.
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
  // The passed descriptor is first copied to a number above those that are
  // overwritten next.
  const int passed = fcntl(start.descriptor, F_DUPFD, kPassedDescriptor + 1);
  if (null < 0 || passed < 0) {
    start.error = errno;
    Exit(1);
  }
  for (int number = 0; number < kPassedDescriptor; ++number)
    CopyDescriptor(null, number);
  CopyDescriptor(passed, kPassedDescriptor);
  syscall(SYS_close_range, kPassedDescriptor + 1, ~0U, 0U);
  // Signals are reset in this process only: without CLONE_SIGHAND, the host
  // keeps its handlers.
  ResetSignals();
  execve(start.program, start.arguments, environ);
  start.error = errno;
  Exit(1);
}

// Runs the intermediate process. It starts the program's process and ends at
// once, so that init becomes the program's parent and the host has no child.
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
  // All signals are blocked, so that no handler of the host runs in a process
  // that shares the host's memory.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t between = Clone(RunBetween, bottom + 2 * kStackBytes, &start);
  const int error = errno;
  if (between > 0) {
    // A host that waits for any child does not see this one: only a wait with
    // __WCLONE does, because the child sends no signal at its end.
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
