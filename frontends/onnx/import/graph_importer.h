// Builds the graph from the nodes of a checked model: scopes, initializers,
// function inlining.
#ifndef EMBER_FRONTENDS_ONNX_IMPORT_GRAPH_IMPORTER_H_
#define EMBER_FRONTENDS_ONNX_IMPORT_GRAPH_IMPORTER_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder/broadcasting.h"
#include "compiler/graph/builder/builder.h"
#include "compiler/graph/builder/control_flow.h"
#include "frontends/import_steps.h"
#include "frontends/onnx/import/branch_choices.h"
#include "frontends/onnx/import/graph_inputs.h"
#include "frontends/onnx/import/import.h"
#include "frontends/onnx/import/model_index.h"
#include "frontends/onnx/import/region_values.h"
#include "frontends/onnx/node/context.h"
#include "frontends/onnx/node/external_data.h"
#include "frontends/onnx/node/tensor.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {

using ValueInfoList = google::protobuf::RepeatedPtrField<ValueInfoProto>;

// Largest nesting depth of calls and subgraphs. It stops functions that call
// each other endlessly, or whose calls double at every level.
inline constexpr int kMaxCallDepth = 64;

class GraphImporter {
 public:
  // The options and choices must outlive the importer.
  GraphImporter(std::shared_ptr<const ModelProto> model, ExternalFiles& files,
                const ImportOptions& options, frontends::ImportSteps& steps,
                BranchChoices& choices);

  // Imports the model. It may be called once per importer.
  StatusOr<graph::Graph> Import();
  // Returns the open dims that this import took to be equal, although one of
  // them might be 1 and broadcast.
  const std::vector<graph::AssumedDims>& assumed_dims() const {
    return builder_.assumed_dims();
  }
  // Makes Import build two variants of the graph, of which the program chooses
  // one: the first assumes that these dims are equal; the second broadcasts as
  // the extents require (variants.cc).
  void MakeVariants(std::vector<graph::AssumedDims> assumed) {
    variants_ = std::move(assumed);
  }

 private:
  // A request to import everything that follows a node twice, once for each
  // value of a condition. It comes from an If whose branches give different
  // kinds of values, or from a node whose rank depends on whether a dim is 1.
  // The import of the node fails, and the import of the graph around it finds
  // the request in split_. `origin`: the label of the node that asked for it,
  // or "dim " followed by the dim's text.
  struct Split {
    std::string origin;
    Tensor condition;
  };
  // Names that are visible to a list of nodes. A subgraph's scope also sees the
  // names of its parent. Its `region` captures values of the graph that
  // encloses the builder's graph.
  struct Scope {
    const Opsets* opsets = nullptr;
    Scope* parent = nullptr;
    graph::GraphBuilder* builder = nullptr;  // receives the nodes
    // The region that `builder` fills, if the scope has a region of its own;
    // else null.
    graph::Region* region = nullptr;
    // Path of the function calls and subgraphs that lead to the scope. It is
    // the first part of the label that errors and operations have as the origin
    // of a node.
    std::string prefix;
    std::unordered_map<std::string, Tensor> values;
    // Lists in which the model states types for values of this scope.
    std::vector<const ValueInfoList*> stated;
    // The initializers by name. Each becomes a constant when it is first used.
    std::unordered_map<std::string, const TensorProto*> initializers;
    // For the body of a function: the attributes of the call, by which the
    // body's references to attributes are replaced.
    std::map<std::string, const AttributeProto*> bindings;
    bool is_function = false;
    int depth = 0;
    // Set for a scope that is a branch of an If. If a split of a node in the
    // branch fails because the outputs are of different kinds, the graph around
    // the If is asked for a split instead: for the same one if the branch is
    // imported in place (in_place_branch), else for one at the If (branch_of).
    bool in_place_branch = false;
    std::optional<Split> branch_of;
  };

  Status AddInputs(Scope& scope);
  StatusOr<Tensor> AddSequenceInput(const InputType& input);
  StatusOr<Tensor> AddMapInput(const InputType& input);
  void AddOutput(const std::string& name, const Tensor& value);
  Status AddInitializers(const GraphProto& graph, Scope& scope);
  // Imports all nodes of a graph or subgraph, then returns the values of its
  // outputs.
  StatusOr<std::vector<Tensor>> ImportOutputs(const GraphProto& graph,
                                              Scope& scope);
  // Defined in variants.cc.
  StatusOr<std::vector<Tensor>> ImportVariants(Scope& scope);
  static bool IsKnown(const Scope& scope, const std::string& name);
  StatusOr<Tensor> Lookup(Scope& scope, const std::string& name);
  // Imports the nodes of a function. (A graph's nodes are imported with its
  // outputs.)
  Status ImportNodes(const NodeList& nodes, Scope& scope);
  StatusOr<std::vector<int>> Order(const NodeList& nodes,
                                   const Scope& scope) const;
  // Imports the nodes of the graph in the given order, from index `first` of
  // `order` on, then returns the values of the graph's outputs.
  StatusOr<std::vector<Tensor>> ImportFrom(const GraphProto& graph,
                                           const std::vector<int>& order,
                                           size_t first, Scope& scope);
  // Builds an `if`: each region has one branch of the node that asked for the
  // split, and all nodes that follow it. Returns no outputs if a region cannot
  // be imported, or if the two give values of different kinds. Defined in
  // continuations.cc.
  StatusOr<std::vector<Tensor>> ImportBothWays(const GraphProto& graph,
                                               const std::vector<int>& order,
                                               size_t first, const Split& split,
                                               Scope& scope);
  // Returns the split to request from the graph around this one, after a split
  // within this one has failed; nullopt if there is none.
  std::optional<Split> SplitAround(const Split& failed,
                                   const Scope& scope) const;
  // True unless the split at `origin` failed before, or kMaxInEachOther splits
  // are in progress. See taken_branches_.
  bool MaySplit(const std::string& origin) const;
  Status ImportNode(const NodeProto& node, int index, Scope& scope);
  Status ImportCall(const FunctionProto& function, const NodeProto& node,
                    const std::string& origin, std::vector<Tensor> inputs,
                    Scope& scope);
  Status ImportOperator(std::shared_ptr<const void> owner,
                        const NodeProto& node, const std::string& origin,
                        std::vector<Tensor> inputs, Scope& scope);

  // Makes the context in which the importer of an operator sees the node. The
  // context refers to the scope, which must outlive it.
  NodeContext ContextOf(std::shared_ptr<const void> owner,
                        const NodeProto& node, const std::string& origin,
                        int opset, std::vector<Tensor> inputs, Scope& scope);
  // Imports a node that has subgraphs (If, Loop, Scan and others;
  // control_flow.cc). Returns false, without an effect, for all other nodes.
  StatusOr<bool> ImportControlFlow(std::shared_ptr<const void> owner,
                                   const NodeProto& node,
                                   const std::string& origin,
                                   const std::vector<Tensor>& inputs,
                                   Scope& scope);
  // Defined in branches.cc.
  Status ImportIf(NodeContext& c, Scope& scope);
  // Imports one of two branches in place. If a condition is given, the program
  // checks that it selects this branch.
  Status ImportBranch(NodeContext& c, Tensor condition, bool is_then,
                      const GraphProto& branch, Scope& scope);
  // True if the values have the ranks and element types that the model states
  // for the outputs of the node. Outputs without a stated type fit.
  static bool FitStatedTypes(const NodeProto& node,
                             const std::vector<Tensor>& values,
                             const Scope& scope);
  // Adds input 1 to a Squeeze without axes: the axes of extent 1, which the
  // Squeeze drops. If these depend on an open dim, everything that follows may
  // have to be imported for both cases; the function then returns false, and
  // sets split_. Defined in unit_dims.cc.
  bool AddUnitAxes(const NodeProto& node, std::vector<Tensor>& inputs,
                   const Scope& scope);
  // Adds input 3 to a MaxUnpool that has an output shape: the shape of the
  // operand of the MaxPool that made the indices, if it is known. The indices
  // refer to this shape.
  void AddPooledShape(const NodeProto& node, std::vector<Tensor>& inputs,
                      const Scope& scope) const;
  std::optional<std::vector<int64_t>> UnitAxes(const NodeProto& node, Tensor x,
                                               const Scope& scope);
  // Defined in loop.cc.
  Status ImportLoop(NodeContext& c, Scope& scope);
  StatusOr<bool> UnrollLoop(NodeContext& c, const GraphProto& graph,
                            const std::vector<Tensor>& initial, int64_t trips,
                            Scope& scope);
  // Defined in scan.cc.
  Status ImportScan(NodeContext& c, Scope& scope);
  Status ImportBatchedScan(NodeContext& c, Scope& scope);
  // Defined in sequence_map.cc.
  Status ImportSequenceMap(NodeContext& c, Scope& scope);
  // Returns a new scope for the nodes of a subgraph. `region`: the region to
  // which they are added; null if they are added to the graph of `scope`.
  Scope SubgraphScope(Scope& scope, const std::string& origin,
                      graph::Region* region) const;
  // Imports a subgraph with `inputs` (values of its scope), and returns its
  // outputs.
  StatusOr<std::vector<Tensor>> ImportSubgraph(
      const GraphProto& graph, const std::vector<Tensor>& inputs, Scope& scope);
  // Builds a loop's body into `region`. `last`: receives the body's outputs.
  graph::LoopOutputs ImportBody(const GraphProto& graph,
                                const std::vector<Tensor>& arguments,
                                const RegionValues& carried, bool conditional,
                                const std::string& origin,
                                graph::Region& region, Scope& scope,
                                std::vector<Tensor>& last);
  // Sets the node's outputs. It is an error if there are fewer values than
  // outputs.
  Status SetOutputs(const NodeContext& c, const std::vector<Tensor>& values,
                    Scope& scope);

  const ImportOptions& options_;
  frontends::ImportSteps& steps_;
  BranchChoices& choices_;
  std::shared_ptr<const ModelProto> model_;
  ModelIndex index_;
  ExternalFiles& files_;
  graph::GraphBuilder builder_;
  int64_t imported_nodes_ = 0;
  std::optional<Split> split_;
  // Shapes of the operands of MaxPools, which a MaxUnpool needs to interpret
  // its indices. The key is the prefix of the scope followed by the name of the
  // MaxPool's output of indices.
  std::map<std::string, graph::Shape> pooled_shapes_;
  // taken_branches_ has an entry for each split (a request to import what
  // follows twice) of which one part is being imported: from its origin to the
  // value of its condition in this part (for a dim: true if the dim is 1).
  // not_split_ has the origins of splits that were tried and failed.
  std::map<std::string, bool> taken_branches_;
  std::set<std::string> not_split_;
  std::vector<graph::AssumedDims> variants_;  // empty: one variant
};

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_IMPORT_GRAPH_IMPORTER_H_
