#include "tests/kernel_cache/child_run.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/file.h"

namespace ember::tests {
namespace {

bool MakesFolder(uint64_t call) {
#ifdef SYS_mkdir
  if (call == SYS_mkdir) return true;
#endif
  return call == SYS_mkdirat;
}

bool IsFileCall(uint64_t call) {
  switch (call) {
    case SYS_openat:
    // The call getrandom counts as a call on files: the cache calls it for
    // names of files and for secrets, and a kill there should be tested, too.
    case SYS_getrandom:
    case SYS_write:
    case SYS_close:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_linkat:
    case SYS_unlinkat:
    case SYS_utimensat:
      return true;
    default:
      return MakesFolder(call);
  }
}

}  // namespace

StatusOr<ChildRun> ChildRun::Start(const std::vector<std::string>& command,
                                   const std::string& folder,
                                   const std::string& name, bool is_traced) {
  const std::string base = folder + "/" + name;
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const pid_t process = ::fork();
  if (process < 0) return InternalError("cannot fork");
  if (process > 0) return ChildRun(process, base);
  const int flags = O_WRONLY | O_CREAT | O_TRUNC;
  ::dup2(::open((base + ".out").c_str(), flags, 0600), STDOUT_FILENO);
  ::dup2(::open((base + ".err").c_str(), flags, 0600), STDERR_FILENO);
  if (is_traced) ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

Status ChildRun::GoOnUntilFileCalls(int64_t count) {
  // A traced child stops when exec has started the other program in it; this
  // waits for that.
  if (::waitpid(process_, &status_, 0) != process_ || !WIFSTOPPED(status_) ||
      ::ptrace(PTRACE_SETOPTIONS, process_, nullptr,
               PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) != 0)
    return FailedPreconditionError("this system does not allow tracing");
  bool has_made_folder = false;
  uint64_t call = 0;
  while (count > 0) {
    ::ptrace(PTRACE_SYSCALL, process_, nullptr, nullptr);
    if (::waitpid(process_, &status_, 0) != process_)
      return InternalError("lost a child");
    has_ended_ = WIFEXITED(status_) || WIFSIGNALED(status_);
    if (has_ended_) return OkStatus();
    if (!WIFSTOPPED(status_) || WSTOPSIG(status_) != (SIGTRAP | 0x80)) continue;
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, process_, sizeof info, &info) <= 0)
      return FailedPreconditionError("this system does not tell system calls");
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) call = info.entry.nr;
    has_made_folder |= MakesFolder(call);
    if (has_made_folder && IsFileCall(call)) --count;
  }
  return OkStatus();
}

bool ChildRun::HasEnded() {
  if (!has_ended_)
    has_ended_ = ::waitpid(process_, &status_, WNOHANG) == process_;
  return has_ended_;
}

void ChildRun::Kill() {
  if (!has_ended_) ::kill(process_, SIGKILL);
}

StatusOr<ChildRun::End> ChildRun::Wait() {
  if (!has_ended_ && ::waitpid(process_, &status_, 0) != process_)
    return InternalError("lost a child");
  has_ended_ = true;
  End end;
  end.was_killed = WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL;
  if (WIFEXITED(status_)) end.exit_status = WEXITSTATUS(status_);
  EMBER_ASSIGN_OR_RETURN(end.output, ReadFile(base_ + ".out"));
  EMBER_ASSIGN_OR_RETURN(end.errors, ReadFile(base_ + ".err"));
  return end;
}

FolderWatch::FolderWatch(const std::vector<std::string>& folders)
    : descriptor_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  for (const std::string& folder : folders) {
    ::inotify_add_watch(
        descriptor_, folder.c_str(),
        IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE);
  }
}

FolderWatch::~FolderWatch() { ::close(descriptor_); }

int FolderWatch::Events() {
  alignas(inotify_event) char buffer[4096];
  while (true) {
    const ssize_t bytes = ::read(descriptor_, buffer, sizeof buffer);
    if (bytes <= 0) return events_;
    for (ssize_t at = 0; at < bytes;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      ++events_;
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
}

}  // namespace ember::tests
