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

// Returns the error ResourceExhausted for a call of `points` points, which is
// more than the run may still evaluate.
Status TooManyPoints(const tensor::Dispatch& dispatch, int64_t points,
                     int64_t most);

class RunLimits {
 public:
  struct Options {
    // Limits as the fields of SessionOptions with these names: 0 is the
    // default, a negative number means no limit.
    int64_t work_limit = 0;
    int64_t step_limit = 0;
    double max_seconds = 0;
    const std::atomic<bool>* begins_cancelled = nullptr;
  };

  // Makes the limits of a session. The interrupt must outlive them.
  RunLimits(const Options& options, Interrupt& interrupt);

  // Sets the limit on time in seconds. It applies from the next run on.
  void SetMaxSeconds(double seconds) { max_seconds_ = seconds; }
  // Begins a run: starts the clock and the interrupt, and resets the counts.
  void Start();

  // Counts a step. Returns false if the run has reached its limit on steps or
  // was stopped.
  bool TakeStep() { return --steps_left_ >= 0 && !interrupt_.ShouldStop(); }
  // Returns the error of a run for which TakeStep returned false: the
  // interrupt's status if the run was stopped, else kResourceExhausted.
  Status StepError(const Program& program) const;

  // Counts points. Returns false if the run may not evaluate this many more
  // points.
  bool TakeWork(int64_t points) {
    work_left_ -= points;
    return work_left_ >= 0;
  }
  int64_t work_left() const { return work_left_; }
  // Returns the error of a dispatch for which TakeWork(points) returned false.
  Status WorkError(const tensor::Dispatch& dispatch, int64_t points) const;
  // Returns the error for an object that is not a dispatch, for example
  // WorkError("call ", "TopK").
  Status WorkError(std::string_view kind, std::string_view name) const;

  // Counts the bytes that a program's own instruction copies or clears: one
  // point for each cache line. It must be called before the work. It also
  // checks the interrupt, because a program may copy without jumps or
  // dispatches.
  Status TakeCopy(const Program& program, int64_t bytes);
  // Counts bytes like TakeCopy. It must be called before a session clears
  // memory that a run reads but has not written.
  Status TakeClear(int64_t bytes);
  // Counts the bytes of a string: one point for each byte, and one for the
  // string. It must be called before a library function reads the string.
  Status TakeText(int64_t bytes);

 private:
  // Counts bytes that are copied or cleared, as TakeCopy does. `kind` and
  // `name` describe the object in the error, as in WorkError.
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
