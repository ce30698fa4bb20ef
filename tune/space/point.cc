#include "tune/space/point.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/concat.h"
#include "base/hash.h"

namespace ember::tune {

Point PointOf(const schedule::Schedule& schedule, std::string origin) {
  Point point;
  point.origin = std::move(origin);
  for (const std::shared_ptr<const schedule::Step>& step : schedule.steps())
    point.steps.push_back(*step);
  return point;
}

std::string TextOf(const Point& point) {
  std::string text;
  for (const schedule::Step& step : point.steps)
    text += schedule::ToText(step) + "\n";
  return text;
}

uint64_t HashOf(const Point& point) { return HashString(TextOf(point)); }

StatusOr<Point> ParsePoint(std::string_view text, std::string origin) {
  Point point;
  point.origin = std::move(origin);
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    StatusOr<schedule::Step> step = schedule::ParseStep(line);
    if (!step.ok()) return step.status().WithContext(Concat({"line ", number}));
    point.steps.push_back(*std::move(step));
  }
  return point;
}

}  // namespace ember::tune
