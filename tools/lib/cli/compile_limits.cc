#include "tools/lib/cli/compile_limits.h"

#include <errno.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/one_line.h"
#include "tools/lib/cli/process_memory.h"
#include "vm/runtime/default_limits.h"

namespace ember::tools {
namespace {

// Returns a reference to the message that is printed when the memory limit is
// exceeded. The message is made beforehand, because no memory can be allocated
// at that moment.
std::string& MemoryMessage() {
  static auto* const kMessage = new std::string;
  return *kMessage;
}

void MemoryIsOver() {
  const std::string& message = MemoryMessage();
  const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
  static_cast<void>(written);
  _exit(1);
}

std::string Prefix(const std::string& path) {
  return std::string(program_invocation_short_name) + ": " + OnOneLine(path) +
         ": expected compiling to take at most ";
}

}  // namespace

bool CompileLimits::LimitsMemory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return false;
#else
  return true;
#endif
#else
  return true;
#endif
}

StatusOr<std::unique_ptr<CompileLimits>> CompileLimits::Start(
    const LimitFlags& flags, const std::string& path) {
  vm::SessionOptions options;
  EMBER_RETURN_IF_ERROR(SetLimits(flags, options));
  const int64_t bytes = options.memory_limit == 0 ? vm::DefaultMemoryLimit()
                                                  : options.memory_limit;
  std::unique_ptr<CompileLimits> limits(new CompileLimits);
  MemoryMessage() = Prefix(path) + std::to_string(bytes) +
                    " bytes more (--max-memory), found more\n";
  // The thread that enforces the time limit is started before memory is
  // limited, because its stack may be larger than the memory limit.
  if (options.max_seconds > 0) {
    char seconds[32];
    std::snprintf(seconds, sizeof(seconds), "%g", options.max_seconds);
    limits->time_ = std::make_unique<TimeLimit>(
        options.max_seconds,
        Prefix(path) + seconds +
            " s (--max-seconds), found it still running\n");
  }
  if (bytes > 0 && LimitsMemory()) limits->LimitMemory(bytes);
  return limits;
}

void CompileLimits::LimitMemory(int64_t bytes) {
  if (getrlimit(RLIMIT_DATA, &former_) != 0) return;
  rlimit limit = former_;
  const auto most =
      static_cast<rlim_t>(bytes) + static_cast<rlim_t>(WritableBytes());
  // If the user has set a lower limit for the process (ulimit), that limit
  // stays in force.
  if (limit.rlim_cur == RLIM_INFINITY || most < limit.rlim_cur)
    limit.rlim_cur = most;
  if (setrlimit(RLIMIT_DATA, &limit) != 0) return;
  is_memory_limited_ = true;
  former_handler_ = std::set_new_handler(MemoryIsOver);
}

CompileLimits::~CompileLimits() {
  time_ = nullptr;
  if (!is_memory_limited_) return;
  std::set_new_handler(former_handler_);
  setrlimit(RLIMIT_DATA, &former_);
}

}  // namespace ember::tools
