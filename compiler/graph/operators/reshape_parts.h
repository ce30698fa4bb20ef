// Splits a reshape into independent parts, so that each dim's index depends on
// as few others as possible.
//
//   SplitReshape([N, 6, 1, 4], [N, 2, 3, 4]) == {N → N}, {6 → 2, 3}, {4 → 4}
//
// Dims of extent 1 belong to no part (their index is 0) or are inside one,
// where they change nothing. Within a part the element counts are equal.
#ifndef EMBER_COMPILER_GRAPH_OPERATORS_RESHAPE_PARTS_H_
#define EMBER_COMPILER_GRAPH_OPERATORS_RESHAPE_PARTS_H_

#include <vector>

#include "compiler/graph/dim.h"

namespace ember::graph {

// One part of a reshape: the dims from[from_begin, from_end) become the dims
// to[to_begin, to_end).
struct ReshapePart {
  int from_begin = 0, from_end = 0;
  int to_begin = 0, to_end = 0;

  bool operator==(const ReshapePart&) const = default;
};

// Splits the reshape of `from` to `to` and returns its parts in order. The
// shapes must have equal element counts.
std::vector<ReshapePart> SplitReshape(const Shape& from, const Shape& to);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_OPERATORS_RESHAPE_PARTS_H_
