// Makes new candidates of the search by changing the steps of known schedules
// at random.
//
//   std::optional<Point> neighbour = MutatePoint(schedule, random);
//   Schedule applied(computation);
//   ApplyLeniently(neighbour->steps, applied);
//
// A mutation changes one decision: a number (with equal numbers in other
// steps), the order of loops, the loop at which a stage is computed, an
// annotation such as `unroll`, or a copy of a buffer. The result need not be
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

// Combines two schedules. If their steps differ only in numbers, each step is
// taken from `a` or `b` at random. Otherwise the steps of some random stages
// are those of `b`, and all others those of `a`.
Point CrossPoints(const Point& a, const Point& b, Random& random);

// Applies the steps to the schedule. If a primitive refuses an annotation, such
// as `unroll` of a loop whose extent is no longer constant, that step is left
// out. Returns an error if any other step is refused.
Status ApplyLeniently(std::span<const schedule::Step> steps,
                      schedule::Schedule& schedule);

}  // namespace ember::tune

#endif  // EMBER_TUNE_SPACE_MUTATE_H_
