// Walks the nodes of a checked model from the results that are asked for, and
// builds the graph: operators by the table; functions, control flow of both
// versions and variables here.
//
// Variables that nothing assigns are constants. One that the entry assigns is
// state, an input and a result of the logical type "state"
// (frontends/frontend.h); as states are zeros before the first run, one more,
// "initialized", says from then on that they are not the checkpoint's values
// any more.
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
#include "compiler/graph/builder.h"
#include "compiler/graph/control_flow.h"
#include "frontends/frontend.h"
#include "frontends/import_steps.h"
#include "frontends/tensorflow/entry.h"
#include "frontends/tensorflow/model.h"
#include "frontends/tensorflow/operator_context.h"
#include "frontends/tensorflow/operator_table.h"
#include "frontends/tensorflow/plan.h"

namespace ember::tensorflow {

// Functions, loops and branches in each other.
inline constexpr int kMaximumDepth = 64;
// Evaluations in each other, which branches in functions, and what they take
// from around them, bring about.
inline constexpr int kMaximumEvaluations = 256;
// Nodes that are imported, each call of a function and each turn of finding a
// loop's shapes counted: what a small file can make of itself.
inline constexpr int64_t kMaximumImports = 1 << 22;
// Inputs of all of them, as a node may have very many.
inline constexpr int64_t kMaximumOperands = int64_t{1} << 26;

class GraphImporter {
 public:
  // All must outlive the importer. operators: how many the entry needs of the
  // main body.
  GraphImporter(std::shared_ptr<const Model> model, const Entry& entry,
                const frontends::ImportOptions& options, size_t operators);

  // Once per importer.
  StatusOr<graph::Graph> Import();

 private:
  struct State {
    std::string variable, name;
    Tensor value;  // what it is before the run
  };
  // A body, or the part of it that lies in a loop or a branch, while it is
  // imported.
  struct Scope {
    const Body* body = nullptr;
    const Plan* plan = nullptr;
    graph::GraphBuilder* builder = nullptr;
    // The part around, of the same body; null: this is all of it.
    Scope* outer = nullptr;
    // Whose call this is, if it is a function.
    Scope* caller = nullptr;
    // Of the builder, if it is not that of the scope around.
    graph::Region* region = nullptr;
    int frame = 0;
    std::map<Source, int> decided;  // predicates: which branch this is
    int depth = 0;
    std::string prefix;                        // of origins: the path of calls
    const AttributeMap* attributes = nullptr;  // of the call
    std::unordered_map<int, std::vector<Value>> values;  // by node
    std::map<Source, Value> given;  // from outside: inputs, captures
    std::unordered_set<int> in_progress;
    std::map<std::string, Tensor> variables;
    std::set<std::string> assigned;

    Scope* around() const { return outer != nullptr ? outer : caller; }
  };

  // One try, in which exactly `states_` are state.
  StatusOr<graph::Graph> ImportOnce();
  Status AddInputs(Scope& scope);
  Status AddStates(Scope& scope);
  Status AddOutputs(Scope& scope);

  // Values.
  StatusOr<Value> Lookup(Source source, Scope& scope);
  // Whether the node is in this part of the body, or in one around it.
  static bool LivesIn(int node, const Scope& scope);
  // The outermost part of the body that the node belongs to.
  Scope& OwnerOf(int node, Scope& scope) const;
  Status Evaluate(int node, Scope& scope);
  // What must be there before a node is imported.
  Status FindRequired(int node, Scope& scope, std::vector<Source>& required);
  // What the branches that meet at a merge take from the part around them.
  void FindSharedByBranches(const Node& merge, const Scope& scope,
                            std::vector<Source>& required);
  Status EvaluateNodes(int root, Scope& scope);
  Status ImportNode(int node, Scope& scope);
  Status ImportOperator(const Node& node, const OperatorRow& row, Scope& scope,
                        std::vector<Value>& results);
  StatusOr<std::vector<Value>> Operands(const Node& node, size_t first,
                                        Scope& scope);
  StatusOr<Value> Operand(const Node& node, size_t index, Scope& scope);
  // A tensor, read where the operand is a variable.
  StatusOr<Tensor> TensorOperand(const Node& node, size_t index, Scope& scope);
  static Value Captured(const Value& value, graph::Region& region);

  // Effects (effects.cc): assignments, which run although nothing uses them.
  bool HasEffects(const Node& node, int depth);
  bool FunctionHasEffects(const std::string& name, int depth);
  const std::vector<bool>& EffectsBefore(const Body& body, const Plan& plan);

  // What the importer does itself (control_nodes.cc).
  Status ImportControl(const Node& node, Scope& scope,
                       std::vector<Value>& results);
  StatusOr<const Plan*> PlanOf(const Body& body);
  StatusOr<Scope> Inner(Scope& scope, std::string_view function,
                        const AttributeMap& attributes, graph::Region* region);
  StatusOr<Scope> Inner(Scope& scope, const NameAttrList& function,
                        graph::Region* region);
  StatusOr<std::vector<Value>> RunFunction(Scope& scope,
                                           std::vector<Value> arguments);
  Status ImportCall(const Node& node, Scope& scope,
                    std::vector<Value>& results);

  // Version 2 (functional_control_flow.cc).
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
  // One of two, by the condition; what they assign is carried on.
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

  // Version 1 (frames.cc).
  StatusOr<std::optional<int>> DecidedBranch(Source predicate, Scope& scope);
  // Which predicate a Merge goes by, and which of its inputs lives where it
  // holds and where it does not.
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

  // Loops of both versions: `carried` go round.
  struct Loop {
    std::vector<Value> carried;
    // Before the first turn, in the scope around.
    Tensor condition;
    // One turn: the values after it, and whether there is another.
    std::function<Status(graph::Region& region, std::vector<Value>& values,
                         std::map<std::string, Tensor>& variables,
                         Tensor& proceed)>
        turn;
    bool assigns = false;
  };
  StatusOr<std::vector<Value>> BuildLoop(Loop& loop, Scope& scope);
  // Gives lists that nothing is known of the shape that a turn gives them.
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
  int evaluations_ = 0;  // that are going on
  std::map<const Body*, std::unique_ptr<Plan>> plans_;
  std::map<const Body*, std::vector<bool>> effects_before_;
  std::map<std::string, bool> function_effects_;
  std::set<std::string> assigned_variables_;  // that must be state
  bool found_assignment_ = false;             // of one that is not, in this try
  std::map<std::string, State> states_;       // by variable
  std::string initialized_;  // the name of the state that says so
};

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_GRAPH_IMPORTER_H_
