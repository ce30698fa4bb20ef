// Stops a computation from outside, by a call or by a deadline. The owner of a
// run keeps one Interrupt; compute code calls ShouldStop() between pieces of
// work of at most about a millisecond.
//
//   interrupt.Start(/*deadline_ns=*/0);       // a run begins
//   interrupt.Cancel();                       // on any thread
//   if (interrupt.ShouldStop()) return;       // results are then unspecified
//   return interrupt.status();                // OK unless it was stopped
//
// Thread-safe, except that Start must only be called while nothing runs.
// ShouldStop costs a load and a comparison; the clock is read only if there is
// a deadline.
#ifndef EMBER_BASE_INTERRUPT_H_
#define EMBER_BASE_INTERRUPT_H_

#include <atomic>
#include <cstdint>

#include "base/status.h"

namespace ember {

class Interrupt {
 public:
  // Begins a run: forgets why the last run was stopped. The deadline is in
  // nanoseconds of std::chrono's steady clock; 0 means none. The message of a
  // missed deadline names `seconds`.
  void Start(int64_t deadline_ns = 0, double seconds = 0);
  // Requests that the current run stop. Does nothing if no run is active.
  void Cancel() { Stop(kCancelled); }

  bool ShouldStop() const {
    if (state_.load(std::memory_order_relaxed) != kRuns) return true;
    return deadline_ns_ != 0 && IsLate();
  }
  // Returns the reason for the stop: Cancelled, or ResourceExhausted if the
  // deadline was missed. OK if the run was not stopped.
  Status status() const;

 private:
  enum State : uint8_t { kRuns, kCancelled, kLate };

  // Stores the reason for a stop. If the run was stopped before, the first
  // reason is kept.
  void Stop(State reason) const;
  bool IsLate() const;

  mutable std::atomic<State> state_{kRuns};
  int64_t deadline_ns_ = 0;
  double seconds_ = 0;
};

}  // namespace ember

#endif  // EMBER_BASE_INTERRUPT_H_
