// Measures the times of successive parts of a program.
//
//   Stopwatch stopwatch;
//   Schedule();
//   report.schedule_ms = stopwatch.Lap();
//   Compile();
//   report.codegen_ms = stopwatch.Lap();
#ifndef EMBER_JIT_BACKEND_STOPWATCH_H_
#define EMBER_JIT_BACKEND_STOPWATCH_H_

#include <chrono>

namespace ember::jit {

class Stopwatch {
 public:
  // Returns the milliseconds since the last call of Lap(), or since
  // construction.
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> lap = now - last_;
    last_ = now;
    return lap.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ =
      std::chrono::steady_clock::now();
};

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_STOPWATCH_H_
