#include "tools/lib/generate/interrupt.h"

#include <atomic>
#include <csignal>

namespace ember::tools {
namespace {

static_assert(std::atomic<bool>::is_always_lock_free,
              "the handler of a signal uses it");

std::atomic<bool> requested{false};
std::atomic<vm::Session*> running{nullptr};
struct sigaction before = {};

void OnInterrupt(int signal) {
  if (requested.exchange(true)) {
    ::sigaction(SIGINT, &before, nullptr);
    ::raise(signal);
    return;
  }
  // Session::Cancel only sets an atomic value, so a signal handler may call it.
  if (vm::Session* const session = running.load()) session->Cancel();
}

}  // namespace

CatchInterrupt::CatchInterrupt(vm::Session& session) {
  running = &session;
  requested = false;
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  // SA_RESTART is not set, so that the signal also interrupts std::getline,
  // which waits for a message.
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, nullptr, &before);
  // If the tool's parent process has set SIGINT to be ignored, it stays
  // ignored.
  if (before.sa_handler != SIG_IGN) ::sigaction(SIGINT, &action, nullptr);
}

CatchInterrupt::~CatchInterrupt() {
  ::sigaction(SIGINT, &before, nullptr);
  running = nullptr;
}

bool CatchInterrupt::is_requested() { return requested.load(); }

void CatchInterrupt::Clear() { requested = false; }

}  // namespace ember::tools
