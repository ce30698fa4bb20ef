#include "tools/lib/cli/end_by_signal.h"

#include <csignal>

#include "base/temporary_files.h"

namespace ember::tools {
namespace {

// The signals whose default action ends a process, except SIGKILL, which cannot
// be handled, and SIGBUS, which cut_files.h handles.
constexpr int kSignals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,
                            SIGABRT, SIGFPE,  SIGSEGV, SIGPIPE,
                            SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ};

// Deletes the temporary files and raises the signal again, which ends the
// process when the handler returns: SA_RESETHAND has restored the default
// action, and the signal is blocked until then.
void OnSignal(int signal) {
  RemoveTemporaryFiles();
  ::raise(signal);
}

}  // namespace

void DeleteTemporaryFilesOnSignals() {
  for (const int signal : kSignals) {
    struct sigaction before = {};
    if (::sigaction(signal, nullptr, &before) != 0 ||
        before.sa_handler != SIG_DFL)
      continue;
    struct sigaction action = {};
    action.sa_handler = OnSignal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace ember::tools
