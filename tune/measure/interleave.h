// Measures a candidate and a reference alternately, so that a change of the
// processor's frequency, or other programs on the machine, affect both alike.
//
//   const Timing timing = Interleave(reference, candidate, options, ThreadClock());
//   timing.ratio;    // 0.8: the candidate takes 0.8 of the reference's time
//
// A round times the candidate and the reference once each. Times are the
// thread's processor time, which does not grow while other threads use the
// core. The result for each of the two is the lower quartile of its rounds,
// because other programs make calls longer, never shorter.
//
// Long calls are timed one by one. Before each of them `evict` empties the
// caches, because in a model other dispatches run between two calls of the same
// one. Short calls are timed in batches, without `evict`.
#ifndef EMBER_TUNE_MEASURE_INTERLEAVE_H_
#define EMBER_TUNE_MEASURE_INTERLEAVE_H_

#include <cstdint>
#include <functional>

namespace ember::tune {

// A function of this type returns the time in nanoseconds since a fixed moment.
using Clock = std::function<int64_t()>;
// Returns a clock of the calling thread's processor time.
Clock ThreadClock();

struct InterleaveOptions {
  int fewest_rounds = 3;
  int most_rounds = 12;
  // After this number of nanoseconds no further round begins, except that there
  // are at least fewest_rounds.
  int64_t most_ns = 150'000'000;
  // Smallest number of nanoseconds that is timed at once: shorter calls are
  // timed in batches that take about so long.
  int64_t least_ns = 30'000;
  // If a candidate takes more than this many times as long as the reference
  // after the fewest rounds, it is hopeless: measuring stops.
  double most_ratio = 1.5;
  // This function is called before each timed call if calls are timed one by
  // one. It may be empty.
  std::function<void()> evict;
};

struct Timing {
  double reference_ns = 0;  // nanoseconds of one call of the reference
  double candidate_ns = 0;
  double ratio = 0;
  int rounds = 0;
  bool is_hopeless = false;
};

// Measures the two functions, which are called many times and must do the same
// work each time.
Timing Interleave(const std::function<void()>& reference,
                  const std::function<void()>& candidate,
                  const InterleaveOptions& options, const Clock& clock);

}  // namespace ember::tune

#endif  // EMBER_TUNE_MEASURE_INTERLEAVE_H_
