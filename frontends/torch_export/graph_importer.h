// Runs a program's graph once, over values that are known or are tensors of the
// graph that is being built. A node calls a row of frontends/torchscript's
// operator table; a node of a higher-order operator runs the graphs that are
// its arguments.
//
//   GraphImporter importer(machine, steps);
//   std::vector<Value> results = importer.Run(program.graph, inputs);
//
// Errors stay in the machine and name the node. Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCH_EXPORT_GRAPH_IMPORTER_H_
#define EMBER_FRONTENDS_TORCH_EXPORT_GRAPH_IMPORTER_H_

#include <map>
#include <string>
#include <vector>

#include "compiler/graph/builder/control_flow.h"
#include "frontends/import_steps.h"
#include "frontends/torch_export/program.h"
#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/operator_caller.h"
#include "frontends/torchscript/value.h"

namespace ember::torch_export {

using torchscript::Value;

class GraphImporter {
 public:
  GraphImporter(torchscript::Machine& machine, frontends::ImportSteps& steps)
      : machine_(machine), caller_(machine, {.steps = &steps}) {}

  // Runs a graph. Returns one value per output; fewer after an error.
  std::vector<Value> Run(const Graph& graph, const std::vector<Value>& inputs);
  // Returns the value of an argument that is not the name of a value of the
  // graph, such as a number or None.
  Value Known(const Argument& argument);

 private:
  using Scope = std::map<std::string, Value, std::less<>>;

  Value ValueOf(const Argument& argument, const Scope& scope);
  void RunNode(const Node& node, Scope& scope);
  void Bind(const Node& node, const Value& result, Scope& scope);

  // Higher-order operators (higher_order.cc).
  Value RunHigherOrder(const Node& node, const Scope& scope);
  Value Cond(const Node& node, const Scope& scope);
  Value While(const Node& node, const Scope& scope);
  Value Map(const Node& node, const Scope& scope);
  Value Scan(const Node& node, const Scope& scope);
  // Runs the body of a scan for each index along the first axis of `items`,
  // with the slices of the items at this index. `carried`: values that pass
  // from one iteration to the next; `others`: further operands of each
  // iteration.
  Value ScanOver(const Graph& body, const std::vector<Value>& carried,
                 const std::vector<Value>& items,
                 const std::vector<Value>& others);
  // Runs the graph that is the node's argument number `before`. The arguments
  // after it are the inputs of that graph.
  Value Invoke(const Node& node, size_t before, const Scope& scope);
  // Returns argument number `index` of the node, which must be a graph; null
  // after an error.
  const Graph* GraphOf(const Node& node, size_t index);
  // Returns the items of an argument that is a list, or the argument as the
  // only value; nothing if it is None or left out.
  std::vector<Value> ValuesOf(const Node& node, size_t index,
                              const Scope& scope);
  // Returns values with copies of the tensors, so that a nested graph that
  // writes to them in place does not change the originals.
  std::vector<Value> Copied(const std::vector<Value>& values);
  // Returns the tensors that a loop carries for these values. A number becomes
  // a scalar.
  std::vector<graph::Value*> Flat(const std::vector<Value>& values);
  std::vector<Value> Like(const std::vector<Value>& patterns,
                          const std::vector<graph::Value*>& flat);
  // Ends a loop's body: leaves its region. Returns `out`, or no outputs after
  // an error.
  graph::LoopOutputs Ended(graph::Region& region, graph::LoopOutputs out);
  void FailNode(const std::string& message);

  torchscript::Machine& machine_;
  torchscript::OperatorCaller caller_;
};

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_GRAPH_IMPORTER_H_
