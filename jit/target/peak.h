// Measures the limits of the machine that kernels are compared with: f32
// multiply-adds in registers, and reads of memory.
//
//   double gflops = MeasureFmaPeak(2, 0.2);   // two threads, for 0.2 s
//   MachineLimits limits = MeasureMachineLimits(2);
//   double gigabytes_per_second = limits.ReadRateFor(1 << 20);
//
// An FMA counts as two operations. The widest vectors are used that this
// processor and this file support: AVX-512 or AVX2. Elsewhere the compiler
// vectorises a plain loop, which may stay below the peak.
#ifndef EMBER_JIT_TARGET_PEAK_H_
#define EMBER_JIT_TARGET_PEAK_H_

#include <cstdint>
#include <string>
#include <vector>

namespace ember::jit {

// Measures multiply-adds and returns 10^9 operations per second, of all threads
// together.
double MeasureFmaPeak(int threads, double seconds);
// Reads `bytes` of memory again and again, each thread a part of them, and
// returns 10^9 bytes per second of all threads together.
double MeasureReadRate(int threads, int64_t bytes, double seconds);

struct MachineLimits {
  struct ReadRate {
    // Number of bytes of memory that the measurement reads again and again.
    int64_t bytes = 0;
    double gigabytes_per_second = 0;
  };
  int threads = 1;
  double gflops = 0;
  // Rates of reading working sets of growing size: the smallest fit in the
  // first-level caches, the largest only in memory.
  std::vector<ReadRate> reads;

  // Returns the rate for a working set of `bytes`, interpolated between the
  // measured sizes.
  double ReadRateFor(double bytes) const;
  // Returns a text such as "2 threads: 190 GFLOP/s of f32 multiply-adds; reads
  // of 64 KiB at 300 GB/s, …".
  std::string Text() const;
};

// Measures the limits of this machine, which takes half a second.
MachineLimits MeasureMachineLimits(int threads);

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_PEAK_H_
