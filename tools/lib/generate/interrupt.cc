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
  // Cancel sets an atomic value and does nothing else.
  if (vm::Session* const session = running.load()) session->Cancel();
}

}  // namespace

CatchInterrupt::CatchInterrupt(vm::Session& session) {
  running = &session;
  requested = false;
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  // Without SA_RESTART a signal also ends the wait for a line of input.
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, nullptr, &before);
  // A caller of the tool may have set the signal to be ignored.
  if (before.sa_handler != SIG_IGN) ::sigaction(SIGINT, &action, nullptr);
}

CatchInterrupt::~CatchInterrupt() {
  ::sigaction(SIGINT, &before, nullptr);
  running = nullptr;
}

bool CatchInterrupt::is_requested() { return requested.load(); }

void CatchInterrupt::Clear() { requested = false; }

}  // namespace ember::tools
