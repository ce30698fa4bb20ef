// Compares the times of two functions that do the same work, such as a kernel
// and tier 0. A lap measures them alternately.
//
//   const Lap lap = RunLap(tier0, kernel, {});
//   if (lap.ratio() > 1.1) ...
//
// Each time is the smallest of many measurements of this thread's processor
// time: other programs on the machine make a call longer, never shorter. The
// machine may still favour one side for a while (by the addresses of buffers,
// or the frequency of a core). A difference is therefore only reported if
// several laps agree, each with new buffers.
#ifndef EMBER_TOOLS_LIB_PREJIT_RACE_H_
#define EMBER_TOOLS_LIB_PREJIT_RACE_H_

#include <cstdint>
#include <functional>
#include <span>

namespace ember::tools {

// A function that returns a time in nanoseconds; only differences of two times
// have a meaning.
using Clock = std::function<int64_t()>;
// Returns a clock that measures the processor time that the calling thread has
// used.
Clock ThreadClock();

struct LapOptions {
  // Minimum length of a measurement in nanoseconds: short functions are called
  // repeatedly.
  int64_t least_ns = 50'000;
  // Number of nanoseconds after which a lap begins no further measurement.
  // Nevertheless each side is measured at least three times.
  int64_t most_ns = 200'000'000;
  // Largest number of measurements per side in a lap.
  int measurements = 25;
};

struct Lap {
  // Nanoseconds of one call of each side.
  double first_ns = 0;
  double second_ns = 0;

  double ratio() const { return second_ns / first_ns; }
};

Lap RunLap(const std::function<void()>& first,
           const std::function<void()>& second, const LapOptions& options,
           const Clock& clock);

// Returns the nanoseconds of one call of `work`: the smallest of three
// measurements.
double TimeOf(const std::function<void()>& work, int64_t least_ns,
              const Clock& clock);

// True if in each lap the second side took more than `most_ratio` times as long
// as the first one.
bool IsFinding(std::span<const Lap> laps, double most_ratio);

// Returns the lap whose ratio is the median. There must be at least one lap.
Lap MedianOf(std::span<const Lap> laps);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PREJIT_RACE_H_
