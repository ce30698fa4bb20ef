#include "tools/lib/models/warm_up.h"

#include <cstdint>
#include <cstdio>

#include "vm/runtime/steady_clock.h"

namespace ember::tools {

Status WarmUp(std::string_view tool, const Tier& tier,
              const std::function<Status()>& run) {
  constexpr int64_t kMinNanoseconds = 500'000'000;
  constexpr int64_t kMaxNanoseconds = 30'000'000'000;
  constexpr int kQuietRuns = 12;
  const int64_t begin_ns = vm::SteadyNanoseconds();
  for (int quiet = 0; quiet < kQuietRuns; ++quiet) {
    const int64_t ns = vm::SteadyNanoseconds() - begin_ns;
    if (tier.jit == nullptr) return OkStatus();
    if (ns > kMaxNanoseconds) {
      std::fprintf(stderr,
                   "%.*s: kernels are still being made after %d s; rows of "
                   "tier 0 with 'no kernel yet' are interpreted (--tier=2 "
                   "makes all kernels first)\n",
                   static_cast<int>(tool.size()), tool.data(),
                   static_cast<int>(kMaxNanoseconds / 1'000'000'000));
      return OkStatus();
    }
    if (tier.jit->is_busy() || ns < kMinNanoseconds) quiet = 0;
    EMBER_RETURN_IF_ERROR(run());
  }
  return OkStatus();
}

}  // namespace ember::tools
