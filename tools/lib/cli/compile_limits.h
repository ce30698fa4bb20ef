// Limits the memory and time that importing and compiling a model may take.
//
//   {
//     EMBER_ASSIGN_OR_RETURN(const auto limits,
//                            CompileLimits::Start(options.limits, path));
//     … import, compile
//   }
//
// Importers and passes allocate memory in so many places that they cannot be
// counted. So the whole process is limited: until the object is destroyed, the
// process may take max_memory bytes more than it had (RLIMIT_DATA: private
// writable memory), and max_seconds may pass. Exceeding a limit ends the
// process with status 1 and one line that names file, limit and flag:
//
//   vm-compile: model.onnx: expected compiling to take at most 1000000 bytes
//   more (--max-memory), found more
//
// For tools, whose process is the user's command. There may be one object at a
// time. Other threads may allocate meanwhile, and their memory counts. Under
// AddressSanitizer and ThreadSanitizer memory is not limited, as their own
// tables would count.
#ifndef EMBER_TOOLS_LIB_CLI_COMPILE_LIMITS_H_
#define EMBER_TOOLS_LIB_CLI_COMPILE_LIMITS_H_

#include <sys/resource.h>

#include <memory>
#include <new>
#include <string>

#include "base/status.h"
#include "tools/lib/cli/limits.h"
#include "tools/lib/cli/time_limit.h"

namespace ember::tools {

class CompileLimits {
 public:
  // Applies max_memory and max_seconds. The defaults are those of sessions: the
  // memory of the machine or control group, and no limit of time. `path` is the
  // file that the line names. Errors: those of SetLimits.
  static StatusOr<std::unique_ptr<CompileLimits>> Start(
      const LimitFlags& flags, const std::string& path);
  ~CompileLimits();
  CompileLimits(const CompileLimits&) = delete;
  CompileLimits& operator=(const CompileLimits&) = delete;

  static bool LimitsMemory();

 private:
  CompileLimits() = default;
  void LimitMemory(int64_t bytes);

  rlimit former_ = {};
  bool is_memory_limited_ = false;
  std::new_handler former_handler_ = nullptr;
  std::unique_ptr<TimeLimit> time_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_COMPILE_LIMITS_H_
