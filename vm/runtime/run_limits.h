// The limits of one run of a session: time, steps (backward jumps and calls of
// programs) and points that dispatches and library functions evaluate. Bytes
// that programs copy count as points, too. Internal to sessions.
//
//   limits.Start();                                   // a run begins
//   if (!limits.TakeStep()) return limits.StepError(program);
//   if (!limits.TakeWork(points)) return limits.WorkError(dispatch, points);
//
// Not thread-safe, except for the interrupt that it starts.
#ifndef EMBER_VM_RUNTIME_RUN_LIMITS_H_
#define EMBER_VM_RUNTIME_RUN_LIMITS_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/interrupt.h"
#include "base/status.h"
#include "tensor/dispatch.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

// Returns the error ResourceExhausted: these points are more than the run may
// still evaluate.
Status TooManyPoints(const tensor::Dispatch& dispatch, int64_t points,
                     int64_t most);

class RunLimits {
 public:
  struct Options {
    // The fields of SessionOptions with these names: 0 is the default, negative
    // no limit.
    int64_t work_limit = 0;
    int64_t step_limit = 0;
    double max_seconds = 0;
    const std::atomic<bool>* begins_cancelled = nullptr;
  };

  // Makes the limits of a session. The interrupt outlives them.
  RunLimits(const Options& options, Interrupt& interrupt);

  // Sets the limit of time in seconds. It takes effect with the next run.
  void SetMaxSeconds(double seconds) { max_seconds_ = seconds; }
  // Starts the clock, the counts and the interrupt.
  void Start();

  // True if the run may make one more step.
  bool TakeStep() { return --steps_left_ >= 0 && !interrupt_.ShouldStop(); }
  // Returns the error after TakeStep returned false.
  Status StepError(const Program& program) const;

  // True if the run may evaluate this many more points.
  bool TakeWork(int64_t points) {
    work_left_ -= points;
    return work_left_ >= 0;
  }
  int64_t work_left() const { return work_left_; }
  // Returns the error after TakeWork(points) returned false.
  Status WorkError(const tensor::Dispatch& dispatch, int64_t points) const;
  // Returns the error for another object, for example WorkError("call ",
  // "TopK").
  Status WorkError(std::string_view kind, std::string_view name) const;

  // Call it before a program itself copies or clears this many bytes. It counts
  // a point for each cache line, and checks the interrupt, because a program
  // may copy without jumps or dispatches.
  Status TakeCopy(const Program& program, int64_t bytes);
  // Counts the bytes as TakeCopy does. Call it before a session clears memory
  // that a run reads before it has been written.
  Status TakeClear(int64_t bytes);
  // Counts the bytes of a string: one point for each byte, and one for the
  // string. Call it before a library function reads the string.
  Status TakeText(int64_t bytes);

 private:
  // Counts bytes that are copied. kind and name: name the object in the error,
  // see WorkError.
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
