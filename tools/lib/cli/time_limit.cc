#include "tools/lib/cli/time_limit.h"

#include <errno.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "base/temporary_files.h"

namespace ember::tools {

TimeLimit::TimeLimit(double seconds, std::string message) {
  // A clock's type cannot represent more seconds than this; a larger limit
  // means no limit.
  constexpr double kMaxSeconds = 1e9;
  if (!(seconds > 0) || seconds > kMaxSeconds) return;
  watch_ = std::thread([this, seconds, message = std::move(message)] {
    std::unique_lock lock(mutex_);
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::nanoseconds>(
                         std::chrono::duration<double>(seconds));
    if (changed_.wait_until(lock, end, [this] { return is_done_; })) return;
    RemoveTemporaryFiles();
    const ssize_t written =
        ::write(STDERR_FILENO, message.data(), message.size());
    static_cast<void>(written);
    ::_exit(1);
  });
}

TimeLimit::~TimeLimit() {
  if (!watch_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  changed_.notify_all();
  watch_.join();
}

std::unique_ptr<TimeLimit> LimitRunOnDevice(const LimitFlags& flags,
                                            const hal::Device& device,
                                            const std::string& name) {
  if (device.is_host()) return nullptr;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", flags.max_seconds);
  // Extra seconds after --max-seconds. The session normally ends the run by
  // itself with an error; the process is ended only if that takes longer.
  constexpr double kGrace = 0.5;
  return std::make_unique<TimeLimit>(
      flags.max_seconds > 0 ? flags.max_seconds + kGrace : 0,
      std::string(program_invocation_short_name) + ": --device=" + name +
          ": expected a run to take at most " + seconds +
          " s (--max-seconds), found it still running\n");
}

}  // namespace ember::tools
