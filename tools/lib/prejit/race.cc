#include "tools/lib/prejit/race.h"

#include <time.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/check.h"

namespace ember::tools {
namespace {

constexpr int kFewestMeasurements = 3;

double TimeOfCalls(const std::function<void()>& work, int64_t calls,
                   const Clock& clock) {
  const int64_t start = clock();
  for (int64_t i = 0; i < calls; ++i) work();
  return static_cast<double>(clock() - start) / static_cast<double>(calls);
}

// Returns the number of calls, a power of two up to 2^20, that together take at
// least `least_ns` nanoseconds. Before measuring, one call fills the caches.
int64_t CallsFor(const std::function<void()>& work, int64_t least_ns,
                 const Clock& clock) {
  work();
  for (int64_t calls = 1;; calls *= 2) {
    const double ns = TimeOfCalls(work, calls, clock);
    if (ns * static_cast<double>(calls) >= static_cast<double>(least_ns) ||
        calls >= int64_t{1} << 20) {
      return calls;
    }
  }
}

}  // namespace

Clock ThreadClock() {
  return [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
}

Lap RunLap(const std::function<void()>& first,
           const std::function<void()>& second, const LapOptions& options,
           const Clock& clock) {
  const int64_t start = clock();
  const int64_t first_calls = CallsFor(first, options.least_ns, clock);
  const int64_t second_calls = CallsFor(second, options.least_ns, clock);
  constexpr double kNever = std::numeric_limits<double>::infinity();
  Lap lap{kNever, kNever};
  for (int i = 0; i < options.measurements; ++i) {
    if (i >= kFewestMeasurements && clock() - start > options.most_ns) break;
    lap.first_ns =
        std::min(lap.first_ns, TimeOfCalls(first, first_calls, clock));
    lap.second_ns =
        std::min(lap.second_ns, TimeOfCalls(second, second_calls, clock));
  }
  return lap;
}

double TimeOf(const std::function<void()>& work, int64_t least_ns,
              const Clock& clock) {
  const int64_t calls = CallsFor(work, least_ns, clock);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kFewestMeasurements; ++i)
    least = std::min(least, TimeOfCalls(work, calls, clock));
  return least;
}

bool IsFinding(std::span<const Lap> laps, double most_ratio) {
  return !laps.empty() && std::ranges::all_of(laps, [&](const Lap& lap) {
    return lap.ratio() > most_ratio;
  });
}

Lap MedianOf(std::span<const Lap> laps) {
  EMBER_CHECK(!laps.empty()) << "the median of no lap";
  std::vector<Lap> sorted(laps.begin(), laps.end());
  std::ranges::sort(sorted, {}, &Lap::ratio);
  return sorted[sorted.size() / 2];
}

}  // namespace ember::tools
