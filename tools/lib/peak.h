// The machine's limits that kernels are measured against: multiply-adds of f32
// in registers, and reading memory.
//
//   double gflops = MeasureFmaPeak(2, 0.2);   // two threads, for 0.2 s
//   MachineLimits limits = MeasureMachineLimits(2);
//   double gigabytes_per_second = limits.ReadRateFor(1 << 20);
//
// An FMA counts as two operations. Uses the widest vectors that this processor
// and this file know (AVX-512, AVX2; elsewhere what the compiler makes of a
// plain loop, which may stay below the peak).
#ifndef EMBER_TOOLS_LIB_PEAK_H_
#define EMBER_TOOLS_LIB_PEAK_H_

#include <cstdint>
#include <string>
#include <vector>

namespace ember::tools {

// In 10^9 operations per second, all threads together.
double MeasureFmaPeak(int threads, double seconds);
// Reading `bytes` of memory again and again, each thread its part, in 10^9
// bytes per second.
double MeasureReadRate(int threads, int64_t bytes, double seconds);

struct MachineLimits {
  struct ReadRate {
    int64_t bytes = 0;  // that were read again and again
    double gigabytes_per_second = 0;
  };
  int threads = 1;
  double gflops = 0;
  // From small to large: first- and second-level caches, shared ones, memory.
  std::vector<ReadRate> reads;

  // Of a working set of so many bytes, between the measured ones.
  double ReadRateFor(double bytes) const;
  // "two threads: 190 GFLOP/s of f32; reads of 64 kB at 300 GB/s, …".
  std::string Text() const;
};

// Takes half a second.
MachineLimits MeasureMachineLimits(int threads);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PEAK_H_
