// Draws a module's graph for viewers: as Graphviz dot, as SVG (laid out here,
// without another program), and as an ONNX file that Netron opens.
//
//   std::string svg = PrintSvg(MakeModuleGraph(module));
#ifndef EMBER_TOOLS_LIB_REPORT_GRAPH_DRAWING_H_
#define EMBER_TOOLS_LIB_REPORT_GRAPH_DRAWING_H_

#include <string>
#include <vector>

#include "tools/lib/report/module_graph.h"

namespace ember::tools {

std::string PrintDot(const ModuleGraph& graph);
std::string PrintSvg(const ModuleGraph& graph);

// The layout of a drawing. Nodes are in rows from inputs to results: each edge
// leads to a later row. The order within each row is chosen so that edges are
// short.
struct GraphLayout {
  std::vector<size_t> row;  // for each node, the index of its row
  // for each row, its nodes from left to right
  std::vector<std::vector<size_t>> rows;
};
GraphLayout LayOut(const ModuleGraph& graph);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_GRAPH_DRAWING_H_
