#include "tools/lib/cli/cut_files.h"

#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

#include "base/temporary_files.h"

namespace ember::tools {
namespace {

// The message that the signal's handler prints. It is made before the signal
// arrives, as a handler cannot make one.
char message[256];
size_t message_size = 0;

void OnBus(int signal, siginfo_t* info, void*) {
  // BUS_ADRERR means that memory of a mapping is no longer in the file. Any
  // other code is a bug.
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
