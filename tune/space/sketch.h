// Makes random schedules from the structure of a computation alone, without the
// rules for default schedules: stages are grouped at random, loops are tiled at
// random levels, and operands are copied, packed or read where they are.
//
//   Schedule schedule(computation);
//   Status status = ScheduleBySketch(target, random, schedule);
//
// On a CPU a stage gets these loops, from the outermost to the innermost (o:
// outer, t: tile in the cache, k: reduction, s: serial, u: unrolled, l: lanes)
//
//   parallel(o o) t t  k_s  k_u  rows_u  vectors_u  lanes_l
//
// and on a GPU (b: blocks, i: invocations)
//
//   parallel(b b)  k_s [copies of operands, by all invocations]  bind(i i)
//   k_u  rows_u
//
// A step that a primitive refuses is left out. Thread-safe.
#ifndef EMBER_TUNE_SPACE_SKETCH_H_
#define EMBER_TUNE_SPACE_SKETCH_H_

#include <string_view>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"
#include "tune/space/random.h"

namespace ember::tune {

// Applies a random sketch to `schedule`, to which no primitive has been
// applied.
Status ScheduleBySketch(std::string_view target, Random& random,
                        schedule::Schedule& schedule);

}  // namespace ember::tune

#endif  // EMBER_TUNE_SPACE_SKETCH_H_
