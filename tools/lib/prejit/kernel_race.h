// Compares the times of a kernel and of tier 0 for a dispatch, on this machine,
// in one thread.
//
//   const std::optional<Lap> lost = LapLost(request, *kernel, ThreadClock());
//   if (lost) Drop(kernel);   // lost->ratio() times as long as tier 0
#ifndef EMBER_TOOLS_LIB_PREJIT_KERNEL_RACE_H_
#define EMBER_TOOLS_LIB_PREJIT_KERNEL_RACE_H_

#include <optional>

#include "tools/lib/prejit/race.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::tools {

// A kernel is slower if it takes more than kMaxRatio times as long as tier 0 in
// each of kLaps laps. Other programs on the machine explain smaller
// differences.
inline constexpr double kMaxRatio = 1.1;
inline constexpr int kLaps = 3;
// If tier 0 takes less than this for a dispatch, the dispatch costs a model
// little with either tier.
inline constexpr double kLeastNs = 20'000;

// Returns the lap with the median ratio if the kernel is slower. Returns
// nothing if it is not, or if that cannot be measured: the dispatch takes
// little time, its parameters are open, or it fails with random operands. Uses
// the request's constants.
std::optional<Lap> LapLost(const vm::KernelRequest& request,
                           const vm::Kernel& kernel, const Clock& clock);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PREJIT_KERNEL_RACE_H_
