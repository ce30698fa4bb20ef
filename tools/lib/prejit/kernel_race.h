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

// A kernel is slower than tier 0 if it takes more than kMaxRatio times as long
// in each of kLaps laps (comparisons with new buffers, race.h). A smaller
// difference may be caused by other programs on the machine.
inline constexpr double kMaxRatio = 1.1;
inline constexpr int kLaps = 3;
// If tier 0 runs a dispatch in less than this number of nanoseconds, the kernel
// is not compared with it, because the dispatch adds little to a model's time.
inline constexpr double kLeastNs = 20'000;

// Compares the kernel with tier 0, on random operands and the request's
// constants. Returns the lap with the median ratio if the kernel is slower.
// Returns nothing if it is not, or if they cannot be compared: the dispatch
// takes little time, its parameters are not known, or it fails on random
// operands.
std::optional<Lap> LapLost(const vm::KernelRequest& request,
                           const vm::Kernel& kernel, const Clock& clock);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PREJIT_KERNEL_RACE_H_
