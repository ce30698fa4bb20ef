// Broadcasting of open dims. If two dims are different expressions, only the
// run shows which of them is 1. A builder can treat such dims in two ways:
//
//   kAssumeEqual  They are assumed to be equal, which the program checks, and
//                 operations stay simple. The builder records the pairs
//                 (GraphBuilder::assumed_dims).
//   kDecidedByData  A dim that may have to be repeated is repeated by an index
//                 that the run-time extent decides. This is right for all
//                 extents that broadcast, and slower.
//
// A frontend builds a model the first way. If that assumed anything, it also
// builds it the second way and lets the program choose
// (frontends/onnx/import/variants.cc). That choice reads the dims of inputs, so
// dims whose sizes data gives are always treated the second way.
#ifndef EMBER_COMPILER_GRAPH_BUILDER_BROADCASTING_H_
#define EMBER_COMPILER_GRAPH_BUILDER_BROADCASTING_H_

#include <cstdint>
#include <vector>

#include "compiler/graph/dim.h"

namespace ember::graph {

enum class Broadcasting : uint8_t { kAssumeEqual, kDecidedByData };

// Two dims that depend only on the model's inputs and that the builder assumed
// to be equal.
struct AssumedDims {
  Dim a, b;
};

// True unless it is proved that no values of its symbols make the extent 1. A
// symbol may have any value from 0 on.
bool MayBeUnit(const Dim& dim);

// True if one dim may be 1 while the other is not, so that assuming them equal
// excludes a legal broadcast. False for two expressions that share a symbol,
// such as an image's height before and after scaling: models with such dims
// intend them to be equal.
bool MayBroadcast(const Dim& a, const Dim& b);

// Returns the extent of the result of broadcasting operands of these extents.
// All extents that are not 1 are assumed to be equal; a constant among them is
// preferred as the result.
Dim BroadcastExtent(const std::vector<Dim>& extents);

// UnitOr returns the extent of a dim that broadcasts to `extent`: 1 if `dim` is
// 1, else `extent`. IndexFactor returns the factor, 0 or 1, by which an index
// along the result is multiplied to get the index along `dim`.
Dim UnitOr(const Dim& dim, const Dim& extent);
Dim IndexFactor(const Dim& dim);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_BUILDER_BROADCASTING_H_
