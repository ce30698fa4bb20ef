// Builds the graph from the nodes of a checked model: scopes, initializers,
// function inlining.
#ifndef EMBER_FRONTENDS_ONNX_GRAPH_IMPORTER_H_
#define EMBER_FRONTENDS_ONNX_GRAPH_IMPORTER_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/graph/broadcasting.h"
#include "compiler/graph/builder.h"
#include "compiler/graph/control_flow.h"
#include "frontends/import_steps.h"
#include "frontends/onnx/branch_choices.h"
#include "frontends/onnx/external_data.h"
#include "frontends/onnx/graph_inputs.h"
#include "frontends/onnx/import.h"
#include "frontends/onnx/model_index.h"
#include "frontends/onnx/node_context.h"
#include "frontends/onnx/region_values.h"
#include "frontends/onnx/tensor.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {

using ValueInfoList = google::protobuf::RepeatedPtrField<ValueInfoProto>;

// Largest depth of calls, and of subgraphs in each other. It ends functions
// that call each other without end, or that double at every level.
inline constexpr int kMaxCallDepth = 64;

class GraphImporter {
 public:
  // The options and choices must outlive the importer.
  GraphImporter(std::shared_ptr<const ModelProto> model, std::string folder,
                const ImportOptions& options, frontends::ImportSteps& steps,
                BranchChoices& choices);

  // May be called once per importer.
  StatusOr<graph::Graph> Import();
  // Open dims that this import took to be equal. Broadcasting would allow that
  // one of them is 1.
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
  // An If whose branches give different kinds of values asks for this, and so
  // does a node whose rank depends on whether a dim is 1. Its import fails;
  // the import of the graph around it sees it. The origin of a dim is its text
  // behind "dim ".
  struct Split {
    std::string origin;
    Tensor condition;
  };
  // Names that are visible to a list of nodes. A subgraph's scope also sees the
  // names of its parent. Its `region` captures values of a graph around the
  // builder's.
  struct Scope {
    const Opsets* opsets = nullptr;
    Scope* parent = nullptr;
    graph::GraphBuilder* builder = nullptr;  // receives the nodes
    graph::Region* region = nullptr;  // region of this scope's own builder
    std::string prefix;               // prefix of origins: the path of calls
    std::unordered_map<std::string, Tensor> values;
    // Types that the model states for its values.
    std::vector<const ValueInfoList*> stated;
    // Initializers become constants when they are first used.
    std::unordered_map<std::string, const TensorProto*> initializers;
    // Attributes of the call, for nodes of a function body.
    std::map<std::string, const AttributeProto*> bindings;
    bool is_function = false;
    int depth = 0;
    // The scope is a branch of an If. A split in it may lead to different kinds
    // of its outputs; then the graph around it is asked for the same split if
    // the branch is imported in place, else for one at the If.
    bool in_place_branch = false;
    std::optional<Split> branch_of;
  };

  Status AddInputs(Scope& scope);
  StatusOr<Tensor> AddSequenceInput(const InputType& input);
  StatusOr<Tensor> AddMapInput(const InputType& input);
  void AddOutput(const std::string& name, const Tensor& value);
  Status AddInitializers(const GraphProto& graph, Scope& scope);
  // Imports the nodes, then returns the values of the outputs.
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
  // Imports the nodes from order[first] on, then returns the values of the
  // outputs.
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
  // Returns the split that the graph around this one is asked for when one in
  // it failed.
  std::optional<Split> SplitAround(const Split& failed,
                                   const Scope& scope) const;
  // True if each branch of this If may be imported with all nodes that follow.
  bool MaySplit(const std::string& origin) const;
  Status ImportNode(const NodeProto& node, int index, Scope& scope);
  Status ImportCall(const FunctionProto& function, const NodeProto& node,
                    const std::string& origin, std::vector<Tensor> inputs,
                    Scope& scope);
  Status ImportOperator(std::shared_ptr<const void> owner,
                        const NodeProto& node, const std::string& origin,
                        std::vector<Tensor> inputs, Scope& scope);

  // The node as an importer sees it; refers to the scope.
  NodeContext ContextOf(std::shared_ptr<const void> owner,
                        const NodeProto& node, const std::string& origin,
                        int opset, std::vector<Tensor> inputs, Scope& scope);
  // Imports a node with subgraphs (control_flow.cc). True if the node was such
  // a one.
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
  // True if the values can be the node's outputs, as far as the model states
  // types.
  static bool FitStatedTypes(const NodeProto& node,
                             const std::vector<Tensor>& values,
                             const Scope& scope);
  // (unit_dims.cc) Adds the axes that a Squeeze without axes drops as its input
  // 1: those of extent 1. Where an open dim decides, the node may be imported
  // with all that follows for either case: then false, and split_ is set.
  bool AddUnitAxes(const NodeProto& node, std::vector<Tensor>& inputs,
                   const Scope& scope);
  // Adds the shape in which a MaxUnpool's indices count as its input 3.
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
  // Returns the scope for the nodes of a subgraph. `region`: null if they are
  // imported in place.
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
  ExternalFiles files_;
  graph::GraphBuilder builder_;
  int64_t imported_nodes_ = 0;
  std::optional<Split> split_;
  // Holds the shapes of MaxPools' operands by the names of their indices,
  // behind the prefix of the scope.
  std::map<std::string, graph::Shape> pooled_shapes_;
  // Nodes whose branch is known where import is (of dims: whether it is 1), and
  // those that were tried both ways in vain.
  std::map<std::string, bool> taken_branches_;
  std::set<std::string> not_split_;
  std::vector<graph::AssumedDims> variants_;  // empty: one variant
};

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_GRAPH_IMPORTER_H_
