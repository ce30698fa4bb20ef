#include "tools/lib/models/warm_up.h"

#include <cstdint>

#include "vm/runtime/steady_clock.h"

namespace ember::tools {

Status WarmUp(const Tier& tier, const std::function<Status()>& run) {
  constexpr int64_t kMinNanoseconds = 500'000'000;
  constexpr int64_t kMaxNanoseconds = 30'000'000'000;
  constexpr int kQuietRuns = 12;
  const int64_t begin_ns = vm::SteadyNanoseconds();
  for (int quiet = 0; quiet < kQuietRuns; ++quiet) {
    const int64_t ns = vm::SteadyNanoseconds() - begin_ns;
    if (tier.jit == nullptr || ns > kMaxNanoseconds) return OkStatus();
    if (tier.jit->is_busy() || ns < kMinNanoseconds) quiet = 0;
    EMBER_RETURN_IF_ERROR(run());
  }
  return OkStatus();
}

}  // namespace ember::tools
