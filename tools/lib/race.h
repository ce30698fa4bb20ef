// Two ways to do the same work, timed in turns: what a kernel takes, beside
// what tier 0 takes.
//
//   const Lap lap = RunLap(tier0, kernel, {});
//   if (lap.ratio() > 1.1) ...
//
// Each time is the least of many, by the clock of this thread's processor time:
// other programs on the machine make a call longer, never shorter. A machine
// may still favour one side for a while (the places of buffers, the frequency
// of a core), so a finding is what several laps agree on, each with new
// buffers.
#ifndef EMBER_TOOLS_LIB_RACE_H_
#define EMBER_TOOLS_LIB_RACE_H_

#include <cstdint>
#include <functional>
#include <span>

namespace ember::tools {

// The time in nanoseconds, from any beginning on.
using Clock = std::function<int64_t()>;
// The time that this thread has had a processor.
Clock ThreadClock();

struct LapOptions {
  // Calls are repeated until a measurement takes at least so long.
  int64_t least_ns = 50'000;
  // Both sides together, at most, once each has been measured three times.
  int64_t most_ns = 200'000'000;
  // Measurements of each side, at most.
  int measurements = 25;
};

struct Lap {
  // Nanoseconds of a call.
  double first_ns = 0;
  double second_ns = 0;

  double ratio() const { return second_ns / first_ns; }
};

Lap RunLap(const std::function<void()>& first,
           const std::function<void()>& second, const LapOptions& options,
           const Clock& clock);

// Nanoseconds of a call: the least of three measurements.
double TimeOf(const std::function<void()>& work, int64_t least_ns,
              const Clock& clock);

// True if the second side lost each lap by more than the ratio allows.
bool IsFinding(std::span<const Lap> laps, double most_ratio);

// The lap with the median ratio, of at least one.
Lap MedianOf(std::span<const Lap> laps);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_RACE_H_
