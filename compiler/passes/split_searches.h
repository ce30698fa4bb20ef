// Splits a search for an extreme along the last dim into two reductions.
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
// A search is a fold, which combines one element after another. Reductions
// combine as many elements at once as there are lanes or threads, though they
// read the row twice. Results are the same: if a row has a NaN, the maximum is
// a NaN, which equals nothing, and the first NaN is found. If `last` is set,
// the second reduction is a maximum.
//
// A search is not split along other dims, where lanes already run along
// adjacent elements, nor along dims of less than 16 elements or of open
// extents.
#ifndef EMBER_COMPILER_PASSES_SPLIT_SEARCHES_H_
#define EMBER_COMPILER_PASSES_SPLIT_SEARCHES_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

Status SplitSearches(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_SPLIT_SEARCHES_H_
