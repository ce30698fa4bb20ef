// Moves a constant-zero pad before a convolution or summing window into the
// window's own padding.
//
//   %p = pad(%x) {low=[0,1,1,0], high=[0,1,1,0], mode="constant"}
//   %y = conv(%p, %w) {low=[0,0], high=[0,0]}
// becomes
//   %y = conv(%x, %w) {low=[1,1], high=[1,1]}
#ifndef EMBER_COMPILER_PASSES_FOLD_PADS_H_
#define EMBER_COMPILER_PASSES_FOLD_PADS_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

Status FoldPads(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_FOLD_PADS_H_
