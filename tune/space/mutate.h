// Changes the steps of a schedule at random: the moves of the search.
//
//   std::optional<Point> neighbour = MutatePoint(schedule, random);
//   Schedule applied(computation);
//   ApplyLeniently(neighbour->steps, applied);
//
// A mutation changes one decision: a number and its equals, the order of
// loops, the loop at which a stage is computed, a mark, a copy. It need not be
// legal. Thread-safe.
#ifndef EMBER_TUNE_SPACE_MUTATE_H_
#define EMBER_TUNE_SPACE_MUTATE_H_

#include <optional>
#include <span>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"
#include "tune/space/point.h"
#include "tune/space/random.h"

namespace ember::tune {

// Returns the steps of `schedule` with one change. Returns nullopt if the
// chosen kind of change does not apply to the schedule.
std::optional<Point> MutatePoint(const schedule::Schedule& schedule,
                                 Random& random);

// Returns steps of both parents: if they are the same but for their numbers,
// each number of either; otherwise the steps of some stages of `b` in the place
// of those of `a`.
Point CrossPoints(const Point& a, const Point& b, Random& random);

// Applies the steps. A mark that is refused, such as `unroll` of a loop whose
// extent is no longer constant, is left out. Errors: another step is refused.
Status ApplyLeniently(std::span<const schedule::Step> steps,
                      schedule::Schedule& schedule);

}  // namespace ember::tune

#endif  // EMBER_TUNE_SPACE_MUTATE_H_
