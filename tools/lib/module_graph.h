// The entry program of a module as a picture shows it: inputs, dispatches,
// library calls and results, with an edge wherever one reads memory that
// another wrote.
//
//   ModuleGraph graph = MakeModuleGraph(module);
//   std::string dot = PrintDot(graph);
//
// Memory is followed through views of the arena: a read depends on the last
// writes that overlap it. Branches are taken as straight code, which shows each
// dispatch once.
#ifndef EMBER_TOOLS_LIB_MODULE_GRAPH_H_
#define EMBER_TOOLS_LIB_MODULE_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "vm/format/module_definition.h"

namespace ember::tools {

struct GraphEdge {
  size_t from = 0, to = 0;  // nodes
  std::string type;         // of what is read: "f32[N, 8, 28, 28]"
};

struct GraphNode {
  enum class Kind { kInput, kDispatch, kLibraryCall, kResult };
  Kind kind = Kind::kDispatch;
  std::string name;    // of the input, dispatch, function or result
  std::string type;    // of an input, a result, or what a dispatch writes
  std::string origin;  // the model's nodes
  int64_t dispatch = -1;
  std::vector<size_t> constants;  // read directly
};

struct ModuleGraph {
  std::string name;
  std::vector<GraphNode> nodes;  // in the program's order
  std::vector<GraphEdge> edges;
};

ModuleGraph MakeModuleGraph(const vm::ModuleDefinition& module);

// "f32[N, 8]" of a buffer of a dispatch; "?" for extents that are not a number
// or a parameter.
std::string BufferTypeText(const tensor::Dispatch& dispatch,
                           const tensor::Buffer& buffer);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODULE_GRAPH_H_
