// One import of an archive, with given types of the inputs.
//
//   ModelImporter importer(file, options, dtypes);
//   StatusOr<graph::Graph> graph = importer.Import();
//   if (!graph.ok()) importer.wanted();   // other types, to try again with
//
// The code runs once to find out what it changes in the module. If it only sets
// attributes to values that are known while importing, it runs again from these
// values; if the graph is the same, they are no state. If it changes other
// attributes, it runs again with these as inputs. Before the first call an
// attribute may have another type than after it (an empty tensor, None), or be
// a number (0) that has one known value after every call. The graph then has a
// branch for the first call and one for later calls, and a bool in the state
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
  // Returns the inputs for which operators request another type, with that
  // type.
  const std::map<std::string, DType>& wanted() const { return wanted_; }

  StatusOr<Arguments> MethodArguments(
      Arguments::Scope scope = Arguments::Scope::kGiven);

 private:
  // A copy of the module that is loaded into a machine.
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
  // Runs the method; returns its results with their names.
  StatusOr<std::vector<NamedTensor>> RunMethod(
      Machine& machine, Instance& instance, const std::vector<Tensor>& inputs);
  Status Flatten(const Value& value, const Expression* expression,
                 const std::string& name, bool is_whole, int depth,
                 std::vector<NamedTensor>& results);
  Status Failure(Machine& machine, const Instance& instance);

  StatusOr<std::vector<Tensor>> AddInputs(graph::GraphBuilder& builder);
  // Imports as if every call were the first, or as if each call began with
  // these attributes, which must be fixed. Finds the attributes that the call
  // changes. The graph is empty if some of them are not fixed.
  StatusOr<graph::Graph> ImportOnce(const std::vector<StateEntry>& given,
                                    std::vector<StateEntry>& changed);
  // Returns an error if a call has read an attribute of `dropped_` before it
  // assigned it.
  Status CheckDropped(Instance& instance) const;
  // True if a call that begins with these entries leaves them as they are, and
  // computes what the first call computes. Such entries are no state. Erases
  // operations of `first` that no operation reads.
  bool IsSettled(graph::Graph& first);
  StatusOr<graph::Graph> ImportWithState();
  StatusOr<graph::Graph> ImportWithFirstCall();
  // The state that a build of the graph has as inputs: the values of the
  // entries that are not known, and the flag that says if there was a call
  // before.
  struct StateInputs {
    std::vector<Tensor> entries;  // absent if known
    Tensor started;
  };
  StateInputs AddStateInputs(graph::GraphBuilder& builder, bool has_flag);
  void SetState(Machine& machine, Instance& instance, const StateInputs& inputs,
                bool selects_initial);
  // Returns the state after a call. Fails if the state does not have the
  // assumed types. Records numbers that were taken to be known but changed.
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
  // Number of items in all results so far, which is limited.
  int flattened_ = 0;
  const Function* method_ = nullptr;
  std::vector<StateEntry> entries_;
  // Attributes that the first call assigns before it reads them.
  ModuleState::Names dropped_;
  // True if an entry of the state was not as assumed, so that the import must
  // be tried again.
  bool must_retry_ = false;
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_MODEL_IMPORTER_H_
