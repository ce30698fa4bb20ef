// Walks the operators of a checked model and builds the graph: subgraphs,
// constants, control flow and state.
//
// State: variable tensors, and resources (VAR_HANDLE …), are inputs and results
// of the graph with the logical type "state" (frontends/frontend.h). A
// CALL_ONCE is state, too: whether it has been made; what its subgraph assigns
// is chosen over a resource's value until then.
#ifndef EMBER_FRONTENDS_TFLITE_GRAPH_IMPORTER_H_
#define EMBER_FRONTENDS_TFLITE_GRAPH_IMPORTER_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_names.h"
#include "compiler/graph/builder.h"
#include "compiler/graph/control_flow.h"
#include "frontends/frontend.h"
#include "frontends/import_steps.h"
#include "frontends/inputs.h"
#include "frontends/tflite/constants.h"
#include "frontends/tflite/entry.h"
#include "frontends/tflite/model.h"
#include "frontends/tflite/operator_context.h"
#include "frontends/tflite/operator_table.h"

namespace ember::tflite {

// Subgraphs that call each other without end stop here.
inline constexpr int kMaximumCallDepth = 32;
// Operators of a model, each call of a subgraph counted: what a small file can
// make of itself.
inline constexpr int kMaximumOperators = 1 << 20;
// Operands and results of all of them, with the scales of each: an operator may
// have very many, and a tensor may be used very often.
inline constexpr int64_t kMaximumOperands = int64_t{1} << 26;

class GraphImporter {
 public:
  // All must outlive the importer. fixed: dims that the model leaves open have
  // the extents of its shapes.
  GraphImporter(std::shared_ptr<const Model> model, const Entry& entry,
                const frontends::ImportOptions& options,
                frontends::ImportSteps& steps, bool fixed);

  // Once per importer.
  StatusOr<graph::Graph> Import();

 private:
  // An input that holds state.
  struct State {
    std::string name;
    Tensor value;
  };
  // A subgraph while it is imported.
  struct Scope {
    int subgraph = 0;
    graph::GraphBuilder* builder = nullptr;
    Scope* parent = nullptr;
    // Of the builder, if the subgraph is imported into a region of its own.
    graph::Region* region = nullptr;
    int depth = 0;
    std::string prefix;                    // of origins: the path of calls
    std::map<int, Tensor> values;          // by tensor
    std::map<int, Tensor> imaginaries;     // of complex tensors
    std::map<int, std::string> resources;  // names, by tensor
    // Values of resources that this scope or one in it has read or assigned.
    std::map<std::string, Tensor> variables;
    std::set<std::string> assigned;
  };

  Status AddInputs(Scope& scope);
  StatusOr<frontends::ModelInput> InputOf(const EntryTensor& input) const;
  Status AddState(Scope& scope);
  Status AddOutputs(Scope& scope);
  StatusOr<Tensor> StateInput(const std::string& name, DType dtype,
                              const Shape& shape);

  // State for the resources that any subgraph names.
  Status AddResources();

  Status ImportOperators(Scope& scope);
  Status ImportOperator(const schema::Operator& op, Scope& scope);
  Status TakeOperands(int64_t count);
  // The quantization that operators see of a tensor.
  StatusOr<std::optional<Quantization>> TakeQuantization(
      const schema::Tensor& tensor);
  Status SetResults(const OperatorContext& c, const OperatorRow& row,
                    const std::optional<Quantization>& moved, Scope& scope);

  // What subgraphs are handed, and give: tensors, and names of resources
  // (control_flow.cc).
  struct Handed {
    Tensor tensor;
    std::string resource;  // not empty: it is one, and there is no tensor
  };
  Status ImportControl(const schema::Operator& op, Scope& scope);
  Status ImportCall(const schema::Operator& op, Scope& scope);
  Status ImportIf(const schema::Operator& op, Scope& scope);
  Status ImportWhile(const schema::Operator& op, Scope& scope);
  Status ImportCallOnce(const schema::Operator& op, Scope& scope);
  Status ImportVarHandle(const schema::Operator& op, Scope& scope);
  Status ImportReadVariable(const schema::Operator& op, Scope& scope);
  Status ImportAssignVariable(const schema::Operator& op, Scope& scope);
  StatusOr<int> Subgraph(int64_t number) const;
  // The operands from `first` on.
  StatusOr<std::vector<Handed>> Operands(const schema::Operator& op,
                                         size_t first, Scope& scope);
  // A subgraph's outputs, its inputs being `inputs`, values of its builder.
  StatusOr<std::vector<Handed>> ImportSubgraph(
      Scope& scope, const std::vector<Handed>& inputs);
  Status SetOutputs(const schema::Operator& op,
                    const std::vector<Handed>& values, Scope& scope) const;
  // region: null if the subgraph is imported in place.
  StatusOr<Scope> Inner(Scope& scope, int subgraph, graph::Region* region);
  StatusOr<Tensor> Variable(const std::string& resource, Scope& scope);
  StatusOr<std::string> Resource(int tensor, const Scope& scope) const;
  // Whether a subgraph, or one that it calls, assigns resources.
  bool Assigns(int subgraph, int depth) const;
  bool AssignsItself(int subgraph, int depth) const;

  // Fails for complex tensors, which only operators of a model may take.
  StatusOr<Tensor> Lookup(int tensor, Scope& scope);
  StatusOr<OperatorContext::Operand> LookupOperand(int tensor, Scope& scope);
  std::string OriginOf(const schema::Operator& op, const Scope& scope) const;

  std::shared_ptr<const Model> model_;
  const Entry& entry_;
  const frontends::ImportOptions& options_;
  frontends::ImportSteps& steps_;
  bool fixed_;
  graph::GraphBuilder builder_;
  int imported_operators_ = 0;
  int64_t imported_operands_ = 0;
  std::vector<State> states_;
  UnpackedConstants unpacked_;
  UniqueNames names_;  // of inputs, outputs and states
  // Names of states: of variable tensors of the entry's subgraph, of resources,
  // and of subgraphs that are called once.
  std::map<int, std::string> variable_tensors_;
  std::map<std::string, std::string> resource_states_;
  std::map<int, std::string> once_;
  mutable std::map<int, bool> assigns_;  // by subgraph, what Assigns found
};

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_GRAPH_IMPORTER_H_
