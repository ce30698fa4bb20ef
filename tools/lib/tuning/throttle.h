// Keeps a search within a share of one core, for a machine that has other work.
//
//   measure = Throttled(std::move(measure), 0.1, should_stop);
//
// Trials are measured one at a time. After each, the search sleeps until the
// processor time that it and its child processes have used since the last sleep
// is the share of the time that has passed. Not thread-safe.
#ifndef EMBER_TOOLS_LIB_TUNING_THROTTLE_H_
#define EMBER_TOOLS_LIB_TUNING_THROTTLE_H_

#include <functional>

#include "tune/search/tuner.h"

namespace ember::tools {

// Returns a function that measures as `measure` does, but sleeps after each
// trial. `share` is in (0, 1]. `should_stop` ends a sleep early; it may be
// empty.
tune::Measure Throttled(tune::Measure measure, double share,
                        std::function<bool()> should_stop);

// Lowers the priority of this process and of the processes that it starts
// later, so that programs that serve calls come first.
void LowerPriority();

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_THROTTLE_H_
