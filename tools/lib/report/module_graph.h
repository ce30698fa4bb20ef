// Builds the graph of a module's entry program for pictures: inputs,
// dispatches, library calls and results, with an edge from a node that writes
// memory to each node that reads it.
//
//   ModuleGraph graph = MakeModuleGraph(module);
//   std::string dot = PrintDot(graph);
//
// Memory is followed through views of the arena: a read depends on the last
// writes that overlap it. Both sides of a branch are treated as if they ran one
// after the other, so each dispatch appears once.
#ifndef EMBER_TOOLS_LIB_REPORT_MODULE_GRAPH_H_
#define EMBER_TOOLS_LIB_REPORT_MODULE_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "vm/isa/module_definition.h"

namespace ember::tools {

struct GraphEdge {
  // Indices of the node that writes the data, and of the node that reads it.
  size_t from = 0, to = 0;
  // type of the data that is read, such as "f32[N, 8, 28, 28]"
  std::string type;
};

struct GraphNode {
  enum class Kind { kInput, kDispatch, kLibraryCall, kResult };
  Kind kind = Kind::kDispatch;
  std::string name;  // name of the input, dispatch, function or result
  std::string type;  // type of an input, a result, or a dispatch's output
  // The names of the model's nodes that the dispatch computes.
  std::string origin;
  int64_t dispatch = -1;
  // Index of the node's instruction in the entry program; -1 for inputs.
  int64_t instruction = -1;
  // Numbers of the constants that the node reads.
  std::vector<size_t> constants;
};

// A byte range of the arena that holds one tensor, from the node that writes it
// first to the node that reads it last.
struct ArenaRange {
  size_t first_node = 0, last_node = 0;
  int64_t begin = 0, end = 0;
};

struct ModuleGraph {
  std::string name;
  // The nodes in the order in which the program runs them.
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
  // The tensors in the arena, in the order in which they are written. Tensors
  // whose size depends on the inputs are left out.
  std::vector<ArenaRange> arena;
};

ModuleGraph MakeModuleGraph(const vm::ModuleDefinition& module);

// Returns the type of a dispatch's buffer, such as "f32[N, 8]". A dim that is
// neither a number nor a single parameter is shown as "?".
std::string BufferTypeText(const tensor::Dispatch& dispatch,
                           const tensor::Buffer& buffer);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_MODULE_GRAPH_H_
