// How somebody else stops a computation, and how long it may take: the owner of
// a run keeps one, compute code asks it between pieces of work of at most about
// a millisecond.
//
//   interrupt.Start(/*deadline_ns=*/0);       // a run begins
//   interrupt.Cancel();                       // on any thread
//   if (interrupt.ShouldStop()) return;       // results are then unspecified
//   return interrupt.status();                // OK unless it was stopped
//
// Thread-safe, but for Start, which is for when nothing runs. A question costs
// a load and a comparison, and without a deadline no clock is read.
#ifndef EMBER_BASE_INTERRUPT_H_
#define EMBER_BASE_INTERRUPT_H_

#include <atomic>
#include <cstdint>

#include "base/status.h"

namespace ember {

class Interrupt {
 public:
  // Forgets what stopped the last run. Nanoseconds of std::chrono's steady
  // clock; 0: no deadline. `seconds` is what the message says of it.
  void Start(int64_t deadline_ns = 0, double seconds = 0);
  // Ends the run that goes on; without one, nothing.
  void Cancel() { Stop(kCancelled); }

  bool ShouldStop() const {
    if (state_.load(std::memory_order_relaxed) != kRuns) return true;
    return deadline_ns_ != 0 && IsLate();
  }
  // Cancelled, or ResourceExhausted where the deadline was missed.
  Status status() const;

 private:
  enum State : uint8_t { kRuns, kCancelled, kLate };

  // The first reason stays.
  void Stop(State reason) const;
  bool IsLate() const;

  mutable std::atomic<State> state_{kRuns};
  int64_t deadline_ns_ = 0;
  double seconds_ = 0;
};

}  // namespace ember

#endif  // EMBER_BASE_INTERRUPT_H_
