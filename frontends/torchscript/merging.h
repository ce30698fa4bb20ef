// What an `if` that only the run decides on gives to what follows: values that
// are one thing or another.
//
//   Merge merge;
//   merge.Add(then, otherwise, "x", machine);
//   … = regions.Build(condition, merge.ThenOutputs(machine), …);
//   const std::vector<Value> merged = merge.Rebuild(results, machine);
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_MERGING_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_MERGING_H_

#include <string>
#include <vector>

#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// One value that is `then` or `otherwise`.
class Merge {
 public:
  // What is one for both, whatever the branch, stays; tensors and numbers
  // become outputs of the regions; what cannot be either is a conflict, which
  // is an error once it is used. name: of the variable, for that error.
  void Add(const Value& then, const Value& otherwise, const std::string& name,
           Machine& machine);

  // Of all values added, in their order: what each region gives. Called with
  // the region entered.
  std::vector<graph::Value*> ThenOutputs(Machine& machine) const;
  std::vector<graph::Value*> ElseOutputs(Machine& machine) const;
  // The values, of the results that the operation has.
  std::vector<Value> Rebuild(const std::vector<graph::Value*>& results,
                             Machine& machine) const;

 private:
  struct Output {
    Value then, otherwise;
    DType dtype;
    bool is_tensor;
    Value::Kind kind;
    Shape fill;  // of the one that is uninitialized
  };
  struct Node {
    Value value;              // as it is, where there is no output and no parts
    int output = -1;          // index of one
    std::vector<Node> parts;  // of a list or tuple
  };
  Node Plan(const Value& then, const Value& otherwise, const std::string& name,
            Machine& machine, int depth);
  Node PlanOutput(const Value& then, const Value& otherwise, Value::Kind kind,
                  DType dtype);
  static Value RebuildNode(const Node& node,
                           const std::vector<graph::Value*>& results,
                           const std::vector<Output>& outputs,
                           Machine& machine);
  std::vector<graph::Value*> Outputs(Machine& machine, bool then) const;

  std::vector<Node> nodes_;
  std::vector<Output> outputs_;
};

// The type of a number's scalar when the model runs.
DType ScalarDType(Value::Kind kind);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_MERGING_H_
