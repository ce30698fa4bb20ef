// Imports the operators of a checked model one after the other, and so builds
// the graph: subgraphs, constants, control flow and state.
//
// State: variable tensors, and resources (VAR_HANDLE …), are inputs and results
// of the graph with the logical type "state" (frontends/frontend.h). A
// CALL_ONCE has a boolean state that is true once the call has been made. Until
// then, the values that its subgraph assigns are used in place of the
// resources' values.
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
#include "compiler/graph/builder/builder.h"
#include "compiler/graph/builder/control_flow.h"
#include "frontends/frontend.h"
#include "frontends/import_steps.h"
#include "frontends/inputs.h"
#include "frontends/tflite/constants.h"
#include "frontends/tflite/entry.h"
#include "frontends/tflite/model.h"
#include "frontends/tflite/operator_context.h"
#include "frontends/tflite/operator_table.h"

namespace ember::tflite {

// Largest call depth of subgraphs; recursion without end fails here.
inline constexpr int kMaxCallDepth = 32;
// Largest number of operators, where each call of a subgraph counts its
// operators anew. A small file could otherwise expand without bound.
inline constexpr int kMaxOperators = 1 << 20;
// Largest number of operands and results of all operators, with the scales of
// each. One operator may have very many, and a tensor may be used very often.
inline constexpr int64_t kMaxOperands = int64_t{1} << 26;

class GraphImporter {
 public:
  // All arguments must outlive the importer. fixed: if true, the dims that the
  // model leaves open get the extents of the shapes in the file.
  GraphImporter(std::shared_ptr<const Model> model, const Entry& entry,
                const frontends::ImportOptions& options,
                frontends::ImportSteps& steps, bool fixed);

  // Imports the entry. Call it once per importer.
  StatusOr<graph::Graph> Import();

 private:
  // A graph input that holds state.
  struct State {
    std::string name;
    Tensor value;
  };
  // A subgraph while it is imported.
  struct Scope {
    int subgraph = 0;
    graph::GraphBuilder* builder = nullptr;
    Scope* parent = nullptr;
    // The region that `builder` fills, if the subgraph is imported into a
    // region of its own; else null.
    graph::Region* region = nullptr;
    int depth = 0;
    // Prefix of the names of operators in errors: the path of calls.
    std::string prefix;
    std::map<int, Tensor> values;  // Values by tensor.
    // Imaginary part of each tensor that is complex, by the number of the
    // tensor.
    std::map<int, Tensor> imaginaries;
    std::map<int, std::string> resources;  // Names by tensor.
    // Values of the resources that this scope or an inner scope has read or
    // assigned, by the name of the resource.
    std::map<std::string, Tensor> variables;
    std::set<std::string> assigned;
  };

  Status AddInputs(Scope& scope);
  StatusOr<frontends::ModelInput> InputOf(const EntryTensor& input) const;
  Status AddState(Scope& scope);
  Status AddOutputs(Scope& scope);
  StatusOr<Tensor> StateInput(const std::string& name, DType dtype,
                              const Shape& shape);

  // Adds state for each resource that a subgraph of the model names.
  Status AddResources();

  Status ImportOperators(Scope& scope);
  Status ImportOperator(const schema::Operator& op, Scope& scope);
  Status TakeOperands(int64_t count);
  // Returns the quantization of a tensor for the functions that import
  // operators, and charges it to the limit of operands.
  StatusOr<std::optional<Quantization>> TakeQuantization(
      const schema::Tensor& tensor);
  Status SetResults(const OperatorContext& c, const OperatorRow& row,
                    const std::optional<Quantization>& moved, Scope& scope);

  // A value that is passed to or returned from a subgraph: a tensor, or the
  // name of a resource (control_flow.cc).
  struct Handed {
    Tensor tensor;
    // If not empty: the value is the resource of this name, and has no tensor.
    std::string resource;
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
  // Returns the operands of an operator from index `first` on.
  StatusOr<std::vector<Handed>> Operands(const schema::Operator& op,
                                         size_t first, Scope& scope);
  // Imports a subgraph. `inputs` are values of the scope's builder. Returns the
  // outputs of the subgraph.
  StatusOr<std::vector<Handed>> ImportSubgraph(
      Scope& scope, const std::vector<Handed>& inputs);
  Status SetOutputs(const schema::Operator& op,
                    const std::vector<Handed>& values, Scope& scope) const;
  // Returns the scope of a called subgraph. region: null if the subgraph is
  // imported into the graph of the caller.
  StatusOr<Scope> Inner(Scope& scope, int subgraph, graph::Region* region);
  StatusOr<Tensor> Variable(const std::string& resource, Scope& scope);
  StatusOr<std::string> Resource(int tensor, const Scope& scope) const;
  // True if a subgraph, or a subgraph that it calls, assigns resources, or if
  // the calls are nested more than kMaxCallDepth deep.
  bool Assigns(int subgraph, int depth) const;
  bool AssignsItself(int subgraph, int depth) const;

  // Returns the value of a tensor that must be real. Fails for complex tensors,
  // which only operators may use.
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
  // Names in use for inputs, outputs and states of the graph, which must be
  // unique.
  UniqueNames names_;
  // The state inputs' names: for variable tensors (by tensor of the entry's
  // subgraph), for resources (by resource name), and for CALL_ONCE (by the
  // called subgraph).
  std::map<int, std::string> variable_tensors_;
  std::map<std::string, std::string> resource_states_;
  std::map<int, std::string> once_;
  // For each subgraph that the function Assigns has examined: true if it
  // assigns resources.
  mutable std::map<int, bool> assigns_;
};

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_GRAPH_IMPORTER_H_
