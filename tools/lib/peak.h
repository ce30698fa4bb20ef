// The machine's limit that kernels are measured against: multiply-adds of f32
// in registers.
//
//   double gflops = MeasureFmaPeak(2, 0.2);   // two threads, for 0.2 s
//
// An FMA counts as two operations. Uses the widest vectors that this processor
// and this file know (AVX-512, AVX2; elsewhere what the compiler makes of a
// plain loop, which may stay below the peak).
#ifndef EMBER_TOOLS_LIB_PEAK_H_
#define EMBER_TOOLS_LIB_PEAK_H_

namespace ember::tools {

// In 10^9 operations per second, all threads together.
double MeasureFmaPeak(int threads, double seconds);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PEAK_H_
