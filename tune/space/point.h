// A point of the space is a schedule as a list of steps, with a note of how it
// was made.
//
//   Point point{.steps = {...}, .origin = "default"};
//   TextOf(point);    // "split %y0 i1 16 -> i1_tile i1_lane\n..."
//
// A value. A point need not be legal; Space::Build applies the steps and checks
// that (tune/space/space.h).
#ifndef EMBER_TUNE_SPACE_POINT_H_
#define EMBER_TUNE_SPACE_POINT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/steps.h"

namespace ember::tune {

struct Point {
  std::vector<schedule::Step> steps;
  // Says how the point was made, for display: "default", "model l2=256K",
  // "sketch", "mutation: split".
  std::string origin;
};

// Returns the point with the steps that were applied to a schedule.
Point PointOf(const schedule::Schedule& schedule, std::string origin);

// Returns the text of the steps, one step on each line.
std::string TextOf(const Point& point);
// Returns a hash of the text of the steps.
uint64_t HashOf(const Point& point);

// Parses a text with one step on each line. Errors: kInvalidArgument with the
// number of the wrong line.
StatusOr<Point> ParsePoint(std::string_view text, std::string origin);

}  // namespace ember::tune

#endif  // EMBER_TUNE_SPACE_POINT_H_
