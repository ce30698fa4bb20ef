// How much one run of a session may do: time, steps (jumps back and calls of
// programs) and points that dispatches and library functions evaluate; what
// programs copy counts as points, too. Internal to sessions.
//
//   limits.Start();                                   // a run begins
//   if (!limits.TakeStep()) return limits.StepError(program);
//   if (!limits.TakeWork(points)) return limits.WorkError(dispatch, points);
//
// Not thread-safe, but for the interrupt that it starts.
#ifndef EMBER_VM_RUNTIME_RUN_LIMITS_H_
#define EMBER_VM_RUNTIME_RUN_LIMITS_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/interrupt.h"
#include "base/status.h"
#include "tensor/dispatch.h"
#include "vm/format/module_definition.h"

namespace ember::vm {

// ResourceExhausted: these points are more than the run may still evaluate.
Status TooManyPoints(const tensor::Dispatch& dispatch, int64_t points,
                     int64_t most);

class RunLimits {
 public:
  struct Options {
    // As in SessionOptions: 0 is the default, negative no limit.
    int64_t work_limit = 0;
    int64_t step_limit = 0;
    double max_seconds = 0;
    const std::atomic<bool>* begins_cancelled = nullptr;
  };

  // The interrupt outlives this.
  RunLimits(const Options& options, Interrupt& interrupt);

  // From the next run on.
  void SetMaxSeconds(double seconds) { max_seconds_ = seconds; }
  // Starts the clock and the counts, and the interrupt with them.
  void Start();

  // Whether there may be one more.
  bool TakeStep() { return --steps_left_ >= 0 && !interrupt_.ShouldStop(); }
  // After TakeStep said no.
  Status StepError(const Program& program) const;

  // Whether there may be so many more points.
  bool TakeWork(int64_t points) {
    work_left_ -= points;
    return work_left_ >= 0;
  }
  int64_t work_left() const { return work_left_; }
  // After TakeWork(points) said no.
  Status WorkError(const tensor::Dispatch& dispatch, int64_t points) const;
  // As for WorkError("call ", "TopK").
  Status WorkError(std::string_view kind, std::string_view name) const;

  // Before a program copies or clears so many bytes by itself: counts a point
  // for each cache line, and sees whether the run is to stop, as a program need
  // not jump nor dispatch.
  Status TakeCopy(const Program& program, int64_t bytes);
  // The same before a session clears memory that a run reads before anything
  // has written to it.
  Status TakeClear(int64_t bytes);
  // The same before a library function looks at a string: a point for each
  // byte, and one for the string.
  Status TakeText(int64_t bytes);

 private:
  // kind and name: as for WorkError.
  Status TakeBytes(int64_t bytes, std::string_view kind, std::string_view name);

  const int64_t work_limit_;
  const int64_t step_limit_;
  const std::atomic<bool>* const begins_cancelled_;
  Interrupt& interrupt_;
  double max_seconds_;
  int64_t work_left_ = 0;
  int64_t steps_left_ = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_RUN_LIMITS_H_
