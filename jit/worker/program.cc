#include "jit/worker/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "jit/llvm/library/llvm_library.h"
#include "jit/worker/background_thread.h"
#include "jit/worker/client.h"
#include "jit/worker/server.h"

namespace ember::jit {
namespace {

// file descriptor that StartProcess passes: the listening socket
constexpr int kListener = 3;

constexpr char kHelp[] =
    "Usage: ember-compile-worker --socket=PATH --lock=PATH [--idle-ms=N] "
    "[--most-ms=N]\n"
    "\n"
    "Compiles kernels for programs of this user that run models with Ember. "
    "Such a program starts it\n"
    "with a listening socket as file 3. It ends when no program has needed it "
    "for a minute. It runs\n"
    "with a low priority. Killing it loses the kernels that are being "
    "compiled, but no result.\n";

// Parses an argument "--NAME=" followed by a number of milliseconds. Returns
// false if the argument is another one.
bool ReadMilliseconds(std::string_view argument, std::string_view name,
                      std::chrono::milliseconds& value) {
  if (!argument.starts_with(name)) return false;
  argument.remove_prefix(name.size());
  int64_t count = 0;
  const auto read = std::from_chars(argument.data(),
                                    argument.data() + argument.size(), count);
  if (read.ec != std::errc() || read.ptr != argument.data() + argument.size() ||
      count < 0)
    return false;
  value = std::chrono::milliseconds(count);
  return true;
}

bool ReadArguments(int argc, char** argv, ServeOptions& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    constexpr std::string_view kSocket = "--socket=", kLock = "--lock=";
    if (argument.starts_with(kSocket)) {
      options.socket = argument.substr(kSocket.size());
    } else if (argument.starts_with(kLock)) {
      options.lock = argument.substr(kLock.size());
    } else if (!ReadMilliseconds(argument, "--idle-ms=", options.idle) &&
               !ReadMilliseconds(argument, "--most-ms=", options.most_time)) {
      return false;
    }
  }
  return !options.socket.empty() && !options.lock.empty();
}

// Lowers the process's priority and limits its resources. The worker's own
// process may be changed in this way; the host of a library must not be.
void StepBack() {
  // Threads that the process starts later inherit this priority.
  LowerPriority(kWorkerNiceness);
  // A high score makes the system end this process first if memory runs out.
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) {
    static_cast<void>(!write(score, "500", 3));
    close(score);
  }
  // The worker survives when the terminal of the program that started it is
  // closed.
  signal(SIGHUP, SIG_IGN);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
#ifndef EMBER_SANITIZER
  // The address space is limited, so that compiling one kernel cannot make the
  // machine swap.
  const rlimit memory = {rlim_t{4} << 30, rlim_t{4} << 30};
  setrlimit(RLIMIT_AS, &memory);
#endif
}

}  // namespace

int RunWorker(int argc, char** argv,
              const std::function<std::unique_ptr<ObjectCompiler>(
                  std::unique_ptr<ObjectCompiler>)>& wrap) {
  ServeOptions options;
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  int listens = 0;
  socklen_t size = sizeof listens;
  if (!ReadArguments(argc, argv, options) ||
      getsockopt(kListener, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 ||
      listens == 0) {
    std::fputs(
        "ember-compile-worker: expected --socket, --lock and a listening "
        "socket as file 3,\n"
        "which programs that use it pass (see --help)\n",
        stderr);
    return 2;
  }
  fcntl(kListener, F_SETFD, FD_CLOEXEC);
  StepBack();
  constexpr unsigned kMaxThreads = 4;
  options.threads = static_cast<int>(
      std::clamp(std::thread::hardware_concurrency() / 4, 1U, kMaxThreads));
  auto compiler = llvm_ir::LoadLlvmCompiler();
  if (!compiler.ok()) return 1;
  const std::unique_ptr<ObjectCompiler> used = wrap(*std::move(compiler));
  Serve(FileDescriptor(kListener), *used, options);
  // The process ends by _exit, which runs no destructors: threads that wait for
  // clients still use the compiler.
  _exit(0);
}

}  // namespace ember::jit
