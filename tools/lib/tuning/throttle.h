// Keeps a search within a share of one core, for a machine that has other work.
//
//   measure = Throttled(std::move(measure), 0.1, should_stop);
//
// Trials are measured one at a time. After each, the search sleeps so long that
// the time since the last sleep is the share of the whole. The time counts in
// full although the search may have waited for a core, so the share is an upper
// limit. Not thread-safe.
#ifndef EMBER_TOOLS_LIB_TUNING_THROTTLE_H_
#define EMBER_TOOLS_LIB_TUNING_THROTTLE_H_

#include <functional>

#include "tune/search/tuner.h"

namespace ember::tools {

// share: in (0, 1]. should_stop ends a sleep early; may be empty.
tune::Measure Throttled(tune::Measure measure, double share,
                        std::function<bool()> should_stop);

// Gives this process, and those that it forks later, a core only while no other
// process wants it.
void RunWhenIdle();

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_THROTTLE_H_
