#include "tune/measure/interleave.h"

#include <time.h>

#include <algorithm>
#include <vector>

namespace ember::tune {
namespace {

constexpr int64_t kMaxCalls = int64_t{1} << 16;

// One of the two functions that are compared, with its times so far.
class Side {
 public:
  Side(const std::function<void()>& work, const InterleaveOptions& options,
       const Clock& clock)
      : work_(work), options_(options), clock_(clock) {
    // The first call is not timed: it fills the caches and lets a kernel
    // allocate its memory.
    work_();
    while (true) {
      const double ns = Measure(calls_);
      if (ns * static_cast<double>(calls_) >=
              static_cast<double>(options_.least_ns) ||
          calls_ >= kMaxCalls) {
        break;
      }
      calls_ *= 2;
    }
  }

  void Round() {
    if (calls_ == 1 && options_.evict) options_.evict();
    times_.push_back(Measure(calls_));
  }

  // Returns the estimated nanoseconds of one call: the lower quartile of the
  // rounds so far.
  double Time() const {
    std::vector<double> sorted = times_;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 4];
  }

 private:
  double Measure(int64_t calls) const {
    const int64_t start = clock_();
    for (int64_t i = 0; i < calls; ++i) work_();
    return static_cast<double>(clock_() - start) / static_cast<double>(calls);
  }

  const std::function<void()>& work_;
  const InterleaveOptions& options_;
  const Clock& clock_;
  int64_t calls_ = 1;
  std::vector<double> times_;
};

}  // namespace

Clock ThreadClock() {
  return [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
}

Timing Interleave(const std::function<void()>& reference,
                  const std::function<void()>& candidate,
                  const InterleaveOptions& options, const Clock& clock) {
  Side first(reference, options, clock), second(candidate, options, clock);
  const int64_t start = clock();
  Timing timing;
  while (timing.rounds < options.most_rounds) {
    first.Round();
    second.Round();
    ++timing.rounds;
    if (timing.rounds < options.fewest_rounds) continue;
    if (second.Time() > options.most_ratio * first.Time()) {
      timing.is_hopeless = true;
      break;
    }
    if (clock() - start > options.most_ns) break;
  }
  timing.reference_ns = first.Time();
  timing.candidate_ns = second.Time();
  timing.ratio = timing.candidate_ns / std::max(timing.reference_ns, 1.0);
  return timing;
}

}  // namespace ember::tune
