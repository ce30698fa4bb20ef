// Samples schedules from the structure of a computation, without the rules of
// the default schedules: stages join at random, loops are tiled on random
// levels, and operands are copied, packed or read where they are.
//
//   Schedule schedule(computation);
//   Status status = ScheduleBySketch(target, random, schedule);
//
// A stage with its tiles has these loops on a CPU (o: outer, t: tile in the
// cache, s: serial, u: unrolled, v: vectors, l: lanes)
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

// Applies a random sketch. schedule: one to which no primitive has been
// applied.
Status ScheduleBySketch(std::string_view target, Random& random,
                        schedule::Schedule& schedule);

}  // namespace ember::tune

#endif  // EMBER_TUNE_SPACE_SKETCH_H_
