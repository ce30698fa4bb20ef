// A point of the space: a list of steps of a schedule, and what made it.
//
//   Point point{.steps = {...}, .origin = "default"};
//   TextOf(point);    // "split %y0 i1 16 -> i1_tile i1_lane\n..."
//
// A value. That the steps are legal is what applying them says
// (tune/space/space.h).
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
  // The part of the space that made the point, for people: "default",
  // "model l2=1/4", "sketch", "mutation: split".
  std::string origin;
};

// Returns the point of a schedule.
Point PointOf(const schedule::Schedule& schedule, std::string origin);

// Returns the steps, one per line.
std::string TextOf(const Point& point);
// Returns a hash of the steps' text.
uint64_t HashOf(const Point& point);

// Parses lines of steps. Errors: kInvalidArgument with the number of the line.
StatusOr<Point> ParsePoint(std::string_view text, std::string origin);

}  // namespace ember::tune

#endif  // EMBER_TUNE_SPACE_POINT_H_
