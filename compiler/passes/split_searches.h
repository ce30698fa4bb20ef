// Replaces the search for an extreme along the last dim by two reductions.
//
//   %y: i64[N] = arg_reduce(%x) {mode = "maximum", axis = 1}    %x: f32[N, 1000]
//     →
//   %m: f32[N] = reduce(%x) {combiner = "maximum", axes = [1]}
//   %c: f32[N, 1] = reshape(%m) {shape = [N, 1]}
//   %e: bool[N, 1000] = equal(%x, %c)
//   %n: bool[N, 1000] = not_equal(%x, %x)                       floats only: NaN
//   %h: bool[N, 1000] = or(%e, %n)
//   %k: i32[1, 1000] = iota() {shape = [1, 1000], axis = 1, dtype = i32}
//   %s: i32[N, 1000] = select(%h, %k, 1000)
//   %p: i32[N] = reduce(%s) {combiner = "minimum", axes = [1]}
//   %y: i64[N] = cast(%p) {dtype = i64}
//
// A fold takes one element after the other; a reduction takes as many at once
// as there are lanes or threads, although the row is read twice. Results are
// the same: if a row has a NaN, its maximum is NaN, which equals no element,
// and the first NaN is found. If `last` is set, the second reduction is a
// maximum.
//
// Folds stay along other dims, whose neighbours are lanes already, along dims
// of less than 16 elements, and where the extent is no constant.
#ifndef EMBER_COMPILER_PASSES_SPLIT_SEARCHES_H_
#define EMBER_COMPILER_PASSES_SPLIT_SEARCHES_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

Status SplitSearches(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_SPLIT_SEARCHES_H_
