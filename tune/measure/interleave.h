// Measures a candidate and a reference alternately, so that a change of the
// clock's frequency, or other programs on the machine, hit both.
//
//   const Timing timing = Interleave(reference, candidate, options, ThreadClock());
//   timing.ratio;    // 0.8: the candidate takes 0.8 of the reference's time
//
// A round times both sides once. Times are the thread's processor time, which
// does not grow while other threads have the core. A side's time is the lower
// quartile of its rounds: other programs make calls longer, never shorter.
//
// Long calls are timed one by one, after `evict`, which drops what the last
// call left in the caches: in a model, other dispatches run between two calls
// of one. Short calls are timed in batches without it.
#ifndef EMBER_TUNE_MEASURE_INTERLEAVE_H_
#define EMBER_TUNE_MEASURE_INTERLEAVE_H_

#include <cstdint>
#include <functional>

namespace ember::tune {

// Returns nanoseconds since some fixed moment.
using Clock = std::function<int64_t()>;
// Returns a clock of the calling thread's processor time.
Clock ThreadClock();

struct InterleaveOptions {
  int fewest_rounds = 3;
  int most_rounds = 12;
  // Nanoseconds after which no further round begins, after the fewest.
  int64_t most_ns = 150'000'000;
  // Nanoseconds of a batch of short calls. A call that takes at least this long
  // is timed alone.
  int64_t least_ns = 30'000;
  // After the fewest rounds, a candidate that takes more than this many times
  // as long as the reference is hopeless, and is not measured further.
  double most_ratio = 1.5;
  // Called before each timed call that is long; may be empty.
  std::function<void()> evict;
};

struct Timing {
  double reference_ns = 0;  // time of a call
  double candidate_ns = 0;
  double ratio = 0;
  int rounds = 0;
  bool is_hopeless = false;
};

// Calls of each side must be possible any number of times.
Timing Interleave(const std::function<void()>& reference,
                  const std::function<void()>& candidate,
                  const InterleaveOptions& options, const Clock& clock);

}  // namespace ember::tune

#endif  // EMBER_TUNE_MEASURE_INTERLEAVE_H_
