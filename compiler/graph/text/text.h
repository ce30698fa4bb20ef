// The text form of a graph.
//
//   graph @mlp(%x: f32[N, 4]) -> (%y) {
//     %w: f32[4, 2] = constant() {value = [1.0, 0.0, 0.5, 2.0, -1.0, 0.0, 3.0,
//                                          4.0]}
//     %h: f32[N, 2] = contract(%x, %w) {spec = "ik,kj->ij"} from "Gemm_0 (Gemm)"
//     %y: f32[N, 2] = maximum(%h, %zero)
//   }
//   dense "8f1c…" = "base64"
//
// Grammar:
//   graph     = "graph" ("@" name | string) "(" inputs ")" "->" "(" outputs ")"
//               "{" operation* "}" resource*
//   input     = [string "="] value ":" type ["as" string]
//               the first string is the name if it is no plain one, the last
//               the logical type
//   output    = [string "="] value ["as" string]
//   operation = result ("," result)* "=" operator "(" values ")"
//               ["{" attributes "}"] (region graph)* ["from" string]
//               regions: as the operator's record names them; values inside
//               have names of their own
//   result    = value [":" type]
//               the type is checked against inference; a constant needs it
//   type      = dtype "[" dims "]"
//   attribute = name "=" (integer | float | string | dtype | "[" integers "]" |
//               "[" dims "]" | "[" elements "]" | dense "<" string ">")
//   resource  = "dense" string "=" string          constant bytes, base64
//             | "text" string                      the next of the strings
// Comments run from // to the end of the line.
//
// Parse(Print(graph)) is Equal to the graph. Parse takes text from anyone;
// errors are one line, "line:column: expected ..., found ...".
#ifndef EMBER_COMPILER_GRAPH_TEXT_TEXT_H_
#define EMBER_COMPILER_GRAPH_TEXT_TEXT_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::graph {

struct PrintOptions {
  // A constant with more elements than this is written as a resource after the
  // graph instead of in its operation.
  int inline_elements = 16;
  // True to leave out the bytes of larger constants. Such a text is only for
  // reading: it does not parse back.
  bool elide_constants = false;
};

std::string Print(const Graph& graph, const PrintOptions& options = {});
StatusOr<Graph> Parse(std::string_view text);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_TEXT_TEXT_H_
