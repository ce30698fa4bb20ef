#include "tools/lib/benchmark/cancel_latency.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "tools/lib/report/statistics.h"

namespace ember::tools {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

}  // namespace

StatusOr<CancelLatency> MeasureCancel(vm::Session& session,
                                      std::span<const vm::Tensor> inputs,
                                      int64_t count, uint64_t seed) {
  std::vector<vm::Tensor> results;
  const Clock::time_point begin = Clock::now();
  EMBER_RETURN_IF_ERROR(session.Run(inputs, &results));
  const double run_ms = Milliseconds(Clock::now() - begin).count();
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> moment(0, run_ms);
  std::vector<double> latencies;
  for (int64_t i = 0; i < count; ++i) {
    const auto delay = std::chrono::duration_cast<Clock::duration>(
        Milliseconds(moment(random)));
    // The cancelling thread is started before the run begins, so that its start
    // does not delay the call of Cancel.
    std::promise<Clock::time_point> begins;
    Clock::time_point cancelled;
    std::thread canceller(
        [&session, &cancelled, delay, begun = begins.get_future()]() mutable {
          std::this_thread::sleep_until(begun.get() + delay);
          cancelled = Clock::now();
          session.Cancel();
        });
    begins.set_value(Clock::now());
    const Status status = session.Run(inputs, &results);
    const Clock::time_point end = Clock::now();
    canceller.join();
    if (status.code() == StatusCode::kCancelled) {
      latencies.push_back(std::max(0.0, Milliseconds(end - cancelled).count()));
    } else if (!status.ok()) {
      return status;
    }
  }
  // One more run, which is not cancelled, checks that the session can still be
  // used.
  EMBER_RETURN_IF_ERROR(session.Run(inputs, &results));
  CancelLatency latency;
  latency.cancelled = static_cast<int64_t>(latencies.size());
  if (latencies.empty()) return latency;
  latency.worst_ms = *std::ranges::max_element(latencies);
  latency.median_ms = Quantiles(std::move(latencies)).At(0.5);
  return latency;
}

}  // namespace ember::tools
