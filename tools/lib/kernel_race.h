// A kernel beside tier 0: which of them takes longer for a dispatch, on this
// machine, in one thread.
//
//   const std::optional<Lap> lost = LapLost(request, *kernel, ThreadClock());
//   if (lost) Drop(kernel);   // lost->ratio() times as long as tier 0
#ifndef EMBER_TOOLS_LIB_KERNEL_RACE_H_
#define EMBER_TOOLS_LIB_KERNEL_RACE_H_

#include <optional>

#include "tools/lib/race.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::tools {

// A kernel that takes more than so many times as long as tier 0 in each of so
// many laps is slower: what other programs on the machine do explains less.
inline constexpr double kMaxRatio = 1.1;
inline constexpr int kLaps = 3;
// A dispatch that takes tier 0 less costs a model little either way.
inline constexpr double kLeastNs = 20'000;

// The lap with the median ratio where the kernel is slower; nothing where it is
// not, or nobody can say: the dispatch takes little time, its parameters are
// open, or it fails for operands from a seed. Constants are the request's.
std::optional<Lap> LapLost(const vm::KernelRequest& request,
                           const vm::Kernel& kernel, const Clock& clock);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_KERNEL_RACE_H_
