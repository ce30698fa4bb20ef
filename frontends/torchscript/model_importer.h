// One import of an archive, given what is known of its inputs' types.
//
//   ModelImporter importer(file, options, dtypes);
//   StatusOr<graph::Graph> graph = importer.Import();
//   if (!graph.ok()) importer.wanted();   // other types, to try again with
//
// The code runs once to find out what it changes in the module. If it changes
// attributes, it runs again with these as inputs. Before the first call an
// attribute may have another type than after it (an empty tensor, None), or be
// a number (0) that has one known value after every call. Then the graph has
// both ways of a call, and a bool of the state is false at the first call.
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
  // Inputs for which operators request another type.
  const std::map<std::string, DType>& wanted() const { return wanted_; }

  StatusOr<Arguments> MethodArguments(
      Arguments::Scope scope = Arguments::Scope::kGiven);

 private:
  // A copy of the module in a machine.
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
  StatusOr<graph::Graph> ImportOnce();
  StatusOr<graph::Graph> ImportWithState();
  StatusOr<graph::Graph> ImportWithFirstCall();
  // The state that a build of the graph has as inputs: the slots that are not
  // known, and the flag.
  struct StateInputs {
    std::vector<Tensor> slots;  // absent if known
    Tensor started;
  };
  StateInputs AddStateInputs(graph::GraphBuilder& builder, bool has_flag);
  void SetState(Machine& machine, Instance& instance, const StateInputs& inputs,
                bool selects_initial);
  // Returns the state after a call. Fails if it has not the assumed types.
  // Records numbers that were taken to be known but changed.
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
  int flattened_ = 0;  // number of items of results
  const Function* method_ = nullptr;
  std::vector<Slot> slots_;
  bool must_retry_ = false;  // a slot was not as assumed
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_MODEL_IMPORTER_H_
