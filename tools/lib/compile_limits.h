// What importing and compiling a model may take.
//
//   {
//     EMBER_ASSIGN_OR_RETURN(const auto limits,
//                            CompileLimits::Start(options.limits, path));
//     … import, compile
//   }
//
// Importers and passes allocate everywhere and have no place that all their
// work goes through, so it is the process that is limited: until the object is
// gone, the process may take max_memory bytes more than it had (RLIMIT_DATA:
// private memory that can be written), and max_seconds may pass. What is over
// ends the process with status 1 and one line that names file, limit and flag:
//
//   vm-compile: model.onnx: expected compiling to take at most 1000000 bytes
//   more (--max-memory), found more
//
// For tools, whose process is the user's command. One at a time; threads may
// allocate meanwhile, and count. Under AddressSanitizer and ThreadSanitizer,
// whose own tables would count, memory is not limited.
#ifndef EMBER_TOOLS_LIB_COMPILE_LIMITS_H_
#define EMBER_TOOLS_LIB_COMPILE_LIMITS_H_

#include <sys/resource.h>

#include <memory>
#include <new>
#include <string>

#include "base/status.h"
#include "tools/lib/limits.h"
#include "tools/lib/time_limit.h"

namespace ember::tools {

class CompileLimits {
 public:
  // Of max_memory and max_seconds, with the defaults of sessions: the memory of
  // the machine or control group, no time. `path` is what the line names.
  // Errors: those of SetLimits.
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

#endif  // EMBER_TOOLS_LIB_COMPILE_LIMITS_H_
