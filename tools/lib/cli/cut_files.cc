#include "tools/lib/cli/cut_files.h"

#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

#include "base/temporary_files.h"

namespace ember::tools {
namespace {

// The message that the signal handler prints. It is made in advance, because a
// signal handler must not allocate memory.
char message[256];
size_t message_size = 0;

void OnBus(int signal, siginfo_t* info, void*) {
  // The code BUS_ADRERR means that a page of a mapped file does not exist in
  // the file. SIGBUS with another code is caused by a bug, so the process ends
  // by the signal.
  if (info->si_code != BUS_ADRERR) {
    RemoveTemporaryFiles();
    ::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  const ssize_t written = ::write(STDERR_FILENO, message, message_size);
  static_cast<void>(written);
  RemoveTemporaryFiles();
  ::_exit(1);
}

}  // namespace

void ReportCutFiles(std::string_view tool) {
  const std::string text =
      std::string(tool.substr(0, 64)) +
      ": a file that it reads was cut off meanwhile, or could not be read\n";
  message_size = text.size();
  // The message has no zero at its end; message_size holds its length.
  // NOLINTNEXTLINE(bugprone-not-null-terminated-result)
  std::memcpy(message, text.data(), text.size());
  struct sigaction action = {};
  action.sa_sigaction = OnBus;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace ember::tools
