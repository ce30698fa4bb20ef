// Builds the graph from the nodes of a checked model, beginning with the
// requested results. Operators are imported by the table; functions, control
// flow of both versions and variables are imported here.
//
// A variable that nothing assigns is a constant. A variable that the entry
// assigns is state: an input and a result of the logical type "state"
// (frontends/frontend.h). States are zeros before the first run. A further
// state, "initialized", is therefore false in the first run and true from then
// on. While it is false, the values of the checkpoint are used instead of the
// states.
#ifndef EMBER_FRONTENDS_TENSORFLOW_GRAPH_IMPORTER_H_
#define EMBER_FRONTENDS_TENSORFLOW_GRAPH_IMPORTER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "compiler/graph/builder/control_flow.h"
#include "frontends/frontend.h"
#include "frontends/import_steps.h"
#include "frontends/tensorflow/control_flow.h"
#include "frontends/tensorflow/entry.h"
#include "frontends/tensorflow/model.h"
#include "frontends/tensorflow/operator_context.h"
#include "frontends/tensorflow/operator_table.h"

namespace ember::tensorflow {

// Largest nesting depth of functions, loops and branches.
inline constexpr int kMaxDepth = 64;
// Largest nesting depth of evaluations. Evaluations nest when branches in
// functions use values from outside of the branch.
inline constexpr int kMaxEvaluations = 256;
// Largest number of imported nodes, counted at each call of a function and in
// each round of finding a loop's shapes. It bounds the work that a small file
// can cause.
inline constexpr int64_t kMaxImports = 1 << 22;
// Largest number of inputs of all imported nodes, as a node may have very many.
inline constexpr int64_t kMaxOperands = int64_t{1} << 26;

class GraphImporter {
 public:
  // All arguments must outlive the importer. `operators`: number of operators
  // of the main body that the entry needs.
  GraphImporter(std::shared_ptr<const Model> model, const Entry& entry,
                const frontends::ImportOptions& options, size_t operators);

  // Imports the entry. It may be called once per importer.
  StatusOr<graph::Graph> Import();

 private:
  struct State {
    std::string variable, name;
    Tensor value;  // Value of the variable before the run.
  };
  // A body (the graph or a function) while it is imported, or the part of a
  // body that belongs to a loop or a branch.
  struct Scope {
    const Body* body = nullptr;
    const ControlFlow* flow = nullptr;
    graph::GraphBuilder* builder = nullptr;
    // The enclosing part of the same body; null if this is the whole body.
    Scope* outer = nullptr;
    // The scope of the call, if the body is a function.
    Scope* caller = nullptr;
    // The region that `builder` fills, if the builder is not that of the
    // enclosing scope; else null.
    graph::Region* region = nullptr;
    int frame = 0;
    // The branch (0 or 1) of each predicate that is decided in this part.
    std::map<Source, int> decided;
    int depth = 0;
    // Prefix of the names of nodes in errors: the path of calls.
    std::string prefix;
    // Attributes of the call, if the body is a function.
    const AttributeMap* attributes = nullptr;
    std::unordered_map<int, std::vector<Value>> values;  // Results by node.
    // Values from outside of this part: inputs and captures.
    std::map<Source, Value> given;
    std::unordered_set<int> in_progress;
    std::map<std::string, Tensor> variables;
    std::set<std::string> assigned;

    Scope* around() const { return outer != nullptr ? outer : caller; }
  };

  // Imports once, with exactly the variables of `states_` as state.
  StatusOr<graph::Graph> ImportOnce();
  Status AddInputs(Scope& scope);
  Status AddStates(Scope& scope);
  Status AddOutputs(Scope& scope);

  // Values.
  StatusOr<Value> Lookup(Source source, Scope& scope);
  // True if the node is in the same loop frame as this part, and this part has
  // decided for every branch that contains the node. So it is true for an
  // enclosing part too, but not for nodes outside of the part's loop.
  static bool LivesIn(int node, const Scope& scope);
  // Returns the outermost part of the body to which the node belongs.
  Scope& OwnerOf(int node, Scope& scope) const;
  Status Evaluate(int node, Scope& scope);
  // Finds the values that must be imported before a node.
  Status FindRequired(int node, Scope& scope, std::vector<Source>& required);
  // Finds the values of the enclosing part that the branches of a Merge need.
  void FindSharedByBranches(const Node& merge, const Scope& scope,
                            std::vector<Source>& required);
  Status EvaluateNodes(int root, Scope& scope);
  Status ImportNode(int node, Scope& scope);
  Status ImportOperator(const Node& node, const OperatorRow& row, Scope& scope,
                        std::vector<Value>& results);
  StatusOr<std::vector<Value>> Operands(const Node& node, size_t first,
                                        Scope& scope);
  StatusOr<Value> Operand(const Node& node, size_t index, Scope& scope);
  // Returns an operand that is a tensor; a variable is read.
  StatusOr<Tensor> TensorOperand(const Node& node, size_t index, Scope& scope);
  static Value Captured(const Value& value, graph::Region& region);

  // These functions find effects, which are assignments: they run although no
  // node uses their results. Defined in variables.cc.
  bool HasEffects(const Node& node, int depth);
  bool FunctionHasEffects(const std::string& name, int depth);
  const std::vector<bool>& EffectsBefore(const Body& body,
                                         const ControlFlow& flow);

  // Imports nodes that are not in the operators' table
  // (functional_control_flow.cc).
  Status ImportControl(const Node& node, Scope& scope,
                       std::vector<Value>& results);
  StatusOr<const ControlFlow*> ControlFlowOf(const Body& body);
  StatusOr<Scope> Inner(Scope& scope, std::string_view function,
                        const AttributeMap& attributes, graph::Region* region);
  StatusOr<Scope> Inner(Scope& scope, const NameAttrList& function,
                        graph::Region* region);
  StatusOr<std::vector<Value>> RunFunction(Scope& scope,
                                           std::vector<Value> arguments);
  Status ImportCall(const Node& node, Scope& scope,
                    std::vector<Value>& results);

  // The functions below import control flow of TensorFlow 2
  // (functional_control_flow.cc).
  using Branch = std::function<StatusOr<std::vector<Value>>(
      graph::Region* region, Scope& scope)>;
  Status ImportIf(const Node& node, Scope& scope, std::vector<Value>& results);
  Status ImportCase(const Node& node, Scope& scope,
                    std::vector<Value>& results);
  StatusOr<std::vector<Value>> ChooseCase(const Node& node, int branch,
                                          Tensor index,
                                          const std::vector<Value>& arguments,
                                          Scope& scope);
  Status ImportWhile(const Node& node, Scope& scope,
                     std::vector<Value>& results);
  // The outputs of one of two branches, and the variables that it assigned.
  struct Choice {
    std::vector<Value> outputs;
    std::map<std::string, Tensor> assigned;
  };
  using Chooser =
      std::function<StatusOr<Choice>(graph::Region& region, Scope& around)>;
  StatusOr<std::vector<Value>> BuildIf(Tensor condition, Scope& scope,
                                       const Chooser& first,
                                       const Chooser& second);
  StatusOr<Choice> RunInRegion(const NameAttrList& function,
                               const std::vector<Value>& arguments,
                               graph::Region& region, Scope& scope);

  // The functions below import control flow of TensorFlow 1 (frames.cc).
  StatusOr<std::optional<int>> DecidedBranch(Source predicate, Scope& scope);
  // The predicate that decides a Merge, and the inputs that are alive if it is
  // false and if it is true.
  struct MergeChoice {
    Source predicate;
    int input[2] = {-1, -1};
  };
  StatusOr<MergeChoice> ChoiceOf(int node, const Scope& scope) const;
  Status ImportMerge(int node, Scope& scope);
  std::vector<int> MergesBeside(int node, Source predicate,
                                const Scope& scope) const;
  Status ImportFrame(int frame, Scope& scope);
  Scope FrameScope(int frame, Scope& scope, graph::Region* region) const;

  // A loop of TensorFlow 1 or 2. Each iteration replaces the values in
  // `carried`.
  struct Loop {
    std::vector<Value> carried;
    // The loop's condition before the first iteration. It is a value of the
    // scope that contains the loop.
    Tensor condition;
    // Builds one iteration: computes the values after the iteration, and the
    // condition for another iteration.
    std::function<Status(graph::Region& region, std::vector<Value>& values,
                         std::map<std::string, Tensor>& variables,
                         Tensor& proceed)>
        build_iteration;
    bool assigns = false;
  };
  StatusOr<std::vector<Value>> BuildLoop(Loop& loop, Scope& scope);
  // For each carried list whose element shape is unknown, finds the shape that
  // an iteration of the loop gives to its elements.
  Status ShapeLists(Loop& loop, Scope& scope);

  // Variables (variables.cc).
  StatusOr<Tensor> Variable(const std::string& name, Scope& scope);
  StatusOr<Tensor> InitialValue(const std::string& name,
                                graph::GraphBuilder& builder);
  Status Assign(const std::string& name, Tensor value, Scope& scope);
  Status ImportVariableNode(const Node& node, Scope& scope,
                            std::vector<Value>& results);

  std::shared_ptr<const Model> model_;
  const Entry& entry_;
  const frontends::ImportOptions& options_;
  std::unique_ptr<graph::GraphBuilder> builder_;
  size_t operators_;
  frontends::ImportSteps steps_;
  int64_t imported_operands_ = 0;
  int evaluations_ = 0;  // Number of evaluations in progress, which nest.
  std::map<const Body*, std::unique_ptr<ControlFlow>> flows_;
  std::map<const Body*, std::vector<bool>> effects_before_;
  std::map<std::string, bool> function_effects_;
  // Names of the variables that must be state, because a node assigns them.
  std::set<std::string> assigned_variables_;
  // True if this attempt to import found an assigned variable that is not yet
  // state.
  bool found_assignment_ = false;
  std::map<std::string, State> states_;  // States by variable.
  // Name of the state "initialized" in the graph.
  std::string initialized_;
};

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_GRAPH_IMPORTER_H_
