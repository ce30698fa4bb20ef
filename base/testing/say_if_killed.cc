#include "base/testing/say_if_killed.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace ember {
namespace {

// The line that the signal handler prints; SayIfKilled sets it.
char said[256];

void Say(int signal) {
  [[maybe_unused]] const auto written = write(2, said, std::strlen(said));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void SayIfKilled(std::string_view line) {
  const size_t length = std::min(line.size(), sizeof said - 1);
  std::memcpy(said, line.data(), length);
  said[length] = '\0';
  for (const int signal : {SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGABRT})
    std::signal(signal, Say);
}

}  // namespace ember
