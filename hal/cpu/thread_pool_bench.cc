// Measures ThreadPool::Run: nanoseconds per call with as many empty chunks as
// workers, back to back (hot) and after pauses in which the workers went to
// sleep (cold).
//
//   thread_pool_bench [THREADS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "hal/cpu/thread_pool.h"

namespace {

using Clock = std::chrono::steady_clock;

double MedianNs(ember::hal::ThreadPool& pool, int calls,
                std::chrono::microseconds pause) {
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    const auto begin = Clock::now();
    pool.Run(pool.worker_count(), [](int64_t, int) {});
    times.push_back(
        std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
  return times[calls / 2];
}

}  // namespace

int main(int argc, char** argv) {
  ember::hal::ThreadPool pool(argc > 1 ? std::atoi(argv[1]) : 2);
  MedianNs(pool, 10000, std::chrono::microseconds(0));
  std::printf("%d threads, hot:  %8.0f ns per Run\n", pool.worker_count(),
              MedianNs(pool, 100000, std::chrono::microseconds(0)));
  std::printf("%d threads, cold: %8.0f ns per Run\n", pool.worker_count(),
              MedianNs(pool, 300, std::chrono::microseconds(1000)));
}
