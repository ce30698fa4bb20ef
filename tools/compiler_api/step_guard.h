// Stops a compilation at its next step: when its owner asks for it, or when a
// limit is exceeded. It also remembers the step, for diagnostics.
//
//   StepGuard guard({.cancel = &flag, .max_seconds = 10});
//   load.compile.progress = &guard;
//   Status status = CompileModel(source, load).status();
//   status = guard.Reason(status);   // says why the guard stopped it
//
// The thread that compiles uses the guard, except for `cancel`, which any
// thread may set.
#ifndef EMBER_TOOLS_COMPILER_API_STEP_GUARD_H_
#define EMBER_TOOLS_COMPILER_API_STEP_GUARD_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/progress.h"
#include "base/status.h"

namespace ember::compiler_api {

struct StepLimits {
  // A flag that another thread sets to true to stop the work; may be null.
  const std::atomic<bool>* cancel = nullptr;
  // Limits on the growth of the process's writable memory in bytes, and on the
  // time since the guard was made. 0 or less: no limit.
  int64_t memory_limit = 0;
  double max_seconds = 0;
  // A listener that receives each progress event, too; may be null.
  Progress* listener = nullptr;
};

class StepGuard final : public Progress {
 public:
  explicit StepGuard(const StepLimits& limits);
  bool Report(const ProgressEvent& event) override;

  // Checks the flag and the limits outside of a step, for work that reports no
  // more steps.
  Status Check();
  // Returns the guard's error if the guard stopped the work, otherwise
  // `status`.
  Status Reason(const Status& status) const;

  // Name of the stage and of the step that began last; "" before the first one.
  const std::string& stage() const { return stage_; }
  const std::string& item() const { return item_; }

 private:
  const StepLimits limits_;
  const std::chrono::steady_clock::time_point start_;
  const int64_t bytes_before_;
  Status stopped_;
  std::string stage_, item_;
};

}  // namespace ember::compiler_api

#endif  // EMBER_TOOLS_COMPILER_API_STEP_GUARD_H_
