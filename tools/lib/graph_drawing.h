// A module's graph for viewers: Graphviz dot, SVG (laid out here; no other
// program is needed), and an ONNX file that Netron opens.
//
//   std::string svg = PrintSvg(MakeModuleGraph(module));
#ifndef EMBER_TOOLS_LIB_GRAPH_DRAWING_H_
#define EMBER_TOOLS_LIB_GRAPH_DRAWING_H_

#include <string>
#include <vector>

#include "tools/lib/module_graph.h"

namespace ember::tools {

std::string PrintDot(const ModuleGraph& graph);
std::string PrintSvg(const ModuleGraph& graph);

// Where each node stands: rows from inputs to results (an edge always leads to
// a later row), in each row from left to right in an order that keeps edges
// short.
struct GraphLayout {
  std::vector<size_t> row;                // by node
  std::vector<std::vector<size_t>> rows;  // nodes, left to right
};
GraphLayout LayOut(const ModuleGraph& graph);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GRAPH_DRAWING_H_
