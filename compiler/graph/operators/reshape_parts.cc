#include "compiler/graph/operators/reshape_parts.h"

#include <optional>

namespace ember::graph {
namespace {

int SkipUnits(const Shape& shape, int position) {
  const int size = static_cast<int>(shape.size());
  while (position < size && shape[static_cast<size_t>(position)] == Dim(1))
    ++position;
  return position;
}

// Returns the smallest part of the reshape that begins at start.from_begin and
// start.to_begin and has equal element counts on both sides. Returns nullopt if
// there is none.
std::optional<ReshapePart> SmallestPart(const Shape& from, const Shape& to,
                                        ReshapePart start) {
  Dim from_count = 1;
  for (size_t f = static_cast<size_t>(start.from_begin); f < from.size(); ++f) {
    from_count = from_count * from[f];
    Dim to_count = 1;
    for (size_t t = static_cast<size_t>(start.to_begin); t < to.size(); ++t) {
      to_count = to_count * to[t];
      if (from_count == to_count && from_count.is_valid()) {
        start.from_end = static_cast<int>(f) + 1;
        start.to_end = static_cast<int>(t) + 1;
        return start;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<ReshapePart> SplitReshape(const Shape& from, const Shape& to) {
  const int from_size = static_cast<int>(from.size()),
            to_size = static_cast<int>(to.size());
  std::vector<ReshapePart> parts;
  ReshapePart next;
  while (true) {
    next.from_begin = SkipUnits(from, next.from_begin);
    next.to_begin = SkipUnits(to, next.to_begin);
    if (next.from_begin == from_size || next.to_begin == to_size) return parts;
    const auto part = SmallestPart(from, to, next);
    if (!part)
      // SmallestPart finds nothing only after a dim of extent 0, or if a
      // product of dims overflows. All remaining dims then form one part.
      break;
    parts.push_back(*part);
    next = {part->from_end, 0, part->to_end, 0};
  }
  parts.push_back({next.from_begin, from_size, next.to_begin, to_size});
  return parts;
}

}  // namespace ember::graph
