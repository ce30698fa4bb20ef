// One import of an archive, with given types of the inputs.
//
//   ModelImporter importer(file, options, dtypes);
//   StatusOr<graph::Graph> graph = importer.Import();
//   if (!graph.ok()) importer.wanted();   // other types, to try again with
//
// The code runs once to find out what it changes in the module. If it only sets
// attributes to values that are known while importing, it runs again with
// these; if the graph is the same, the attributes are no state. If it changes
// other attributes, it runs again with these as inputs. Before the first call
// an attribute may have another type than after it (an empty tensor, None), or
// be a number (0) that has one known value after every call. The graph then has
// a branch for the first call and one for later calls, and a bool in the state
// that is false in the first call only.
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_MODEL_IMPORTER_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_MODEL_IMPORTER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"
#include "frontends/import_steps.h"
#include "frontends/torchscript/arguments.h"
#include "frontends/torchscript/module.h"
#include "frontends/torchscript/state.h"

namespace ember::torchscript {

class ModelImporter {
 public:
  ModelImporter(ModuleFile& file, const frontends::ImportOptions& options,
                const std::map<std::string, DType>& dtypes,
                frontends::ImportSteps& steps)
      : file_(file), options_(options), dtypes_(dtypes), steps_(steps) {}

  StatusOr<graph::Graph> Import();
  // Returns the types that operators need for inputs whose type was assumed to
  // be another one, by the input's name.
  const std::map<std::string, DType>& wanted() const { return wanted_; }

  StatusOr<Arguments> MethodArguments(
      Arguments::Scope scope = Arguments::Scope::kGiven);

 private:
  // A copy of the module, loaded into a machine, and the interpreter that runs
  // it.
  struct Instance {
    std::unique_ptr<Interpreter> interpreter;
    Object* module = nullptr;
  };
  struct NamedTensor {
    std::string name;
    Value value;
  };

  StatusOr<const Function*> FindMethod();
  StatusOr<Instance> Load(Machine& machine);
  // Runs the method on the inputs of the graph; returns its results with their
  // names.
  StatusOr<std::vector<NamedTensor>> RunMethod(
      Machine& machine, Instance& instance, const std::vector<Tensor>& inputs);
  Status Flatten(const Value& value, const Expression* expression,
                 const std::string& name, bool is_whole, int depth,
                 std::vector<NamedTensor>& results);
  Status Failure(Machine& machine, const Instance& instance);

  StatusOr<std::vector<Tensor>> AddInputs(graph::GraphBuilder& builder);
  // Imports the method once. Each call is assumed to begin with the attributes
  // `given`, whose values must be fixed; with none given, each call is like the
  // first. `changed` receives the attributes that the call changes. The graph
  // is empty if some of them are not fixed.
  StatusOr<graph::Graph> ImportOnce(const std::vector<StateEntry>& given,
                                    std::vector<StateEntry>& changed);
  // Returns an error if a call has read an attribute of dropped_ (attributes
  // that are no state) before it assigned it.
  Status CheckDropped(Instance& instance) const;
  // True if a call that begins with entries_ leaves them unchanged and computes
  // the same as `first`, the graph of the first call. Then they are no state.
  // Erases unused operations of `first`.
  bool IsSettled(graph::Graph& first);
  StatusOr<graph::Graph> ImportWithState();
  StatusOr<graph::Graph> ImportWithFirstCall();
  // The inputs of the graph that hold the state: the entries whose values are
  // not known, and `started`, a bool that is false in the first call.
  struct StateInputs {
    std::vector<Tensor> entries;  // absent if known
    Tensor started;
  };
  StateInputs AddStateInputs(graph::GraphBuilder& builder, bool has_flag);
  void SetState(Machine& machine, Instance& instance, const StateInputs& inputs,
                bool selects_initial);
  // Returns the values of the state's entries after a call. Fails if their
  // types are not the assumed ones. If `checks_known`, an entry that was
  // assumed to be a known number but has changed is recorded (must_retry_).
  StatusOr<std::vector<graph::Value*>> StateAfter(Machine& machine,
                                                  Instance& instance,
                                                  bool checks_known);
  Status AddOutputs(graph::GraphBuilder& builder,
                    const std::vector<std::string>& names,
                    const std::vector<graph::Value*>& values);
  void AddStateOutputs(graph::GraphBuilder& builder,
                       const std::vector<graph::Value*>& values, bool has_flag);
  std::string FlagName() const;

  ModuleFile& file_;
  const frontends::ImportOptions& options_;
  std::map<std::string, DType> dtypes_, wanted_;
  frontends::ImportSteps& steps_;
  // Number of items seen while results were flattened; it is limited.
  int flattened_ = 0;
  const Function* method_ = nullptr;
  std::vector<StateEntry> entries_;
  // Attributes that are no state, because the first call assigns them before it
  // reads them.
  ModuleState::Names dropped_;
  // True if a number that was assumed to be known changed, so that the import
  // must be repeated.
  bool must_retry_ = false;
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_MODEL_IMPORTER_H_
