// Broadcasting of dims that are open: which of two different expressions is 1
// when the program runs is then only known to the data. A builder can take
// either view of such dims:
//
//   kAssumeEqual  They are taken to be equal, which the program checks, and
//                 operations stay what they are. The builder remembers the
//                 pairs (GraphBuilder::assumed_dims).
//   kDecidedByData  A dim that may have to be repeated is repeated by an index
//                 that the run-time extent decides. This is right for all
//                 extents that broadcast, and slower.
//
// A frontend builds a model the first way and, where that assumed anything, the
// second way too, and lets the program choose (frontends/onnx/variants.cc).
#ifndef EMBER_COMPILER_GRAPH_BROADCASTING_H_
#define EMBER_COMPILER_GRAPH_BROADCASTING_H_

#include <cstdint>
#include <vector>

#include "compiler/graph/dim.h"

namespace ember::graph {

enum class Broadcasting : uint8_t { kAssumeEqual, kDecidedByData };

// Two dims of an input that were taken to be equal.
struct AssumedDims {
  Dim a, b;
};

// Whether the extent may be 1. Symbols of the model are taken to be at least 1.
bool MayBeUnit(const Dim& dim);

// Whether one of them may be 1 where the other is not, so that taking them to
// be equal excludes something that broadcasting allows. Symbols of the model
// are taken to be at least 1. Two expressions of one symbol (of an image's
// height, say) are taken to be meant to be equal.
bool MayBroadcast(const Dim& a, const Dim& b);

// The extent of the result where operands of these extents meet: all that are
// not 1 are equal. Constants say most.
Dim BroadcastExtent(const std::vector<Dim>& extents);

// 1 if `dim` is 1, else `extent`: what a dim that broadcasts to `extent` is.
// And 0 or 1, by which an index along the result becomes one along that dim.
Dim UnitOr(const Dim& dim, const Dim& extent);
Dim IndexFactor(const Dim& dim);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_BROADCASTING_H_
