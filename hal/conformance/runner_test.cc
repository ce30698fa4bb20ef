#include <atomic>
#include <vector>

#include "hal/conformance/suite.h"

namespace ember::hal {
namespace {

TEST_F(Conformance, HostRunnerCallsEachChunkOnce) {
  ParallelRunner& runner = device().host_runner();
  ASSERT_GE(runner.worker_count(), 1);
  for (int64_t count : {0, 1, 2, 3, 100}) {
    std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
    std::atomic<bool> bad_worker = false;
    runner.Run(count, [&](int64_t chunk, int worker) {
      calls[static_cast<size_t>(chunk)].fetch_add(1);
      if (worker < 0 || worker >= runner.worker_count()) bad_worker = true;
    });
    for (const std::atomic<int>& call : calls) EXPECT_EQ(call.load(), 1);
    EXPECT_FALSE(bad_worker);
  }
}

}  // namespace
}  // namespace ember::hal
