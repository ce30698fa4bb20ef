// Merges values after an `if` that is decided at run time: each merged value is
// the value of the then branch or that of the else branch.
//
//   Merge merge;
//   merge.Add(then, otherwise, "x", machine);
//   … = regions.Build(condition, merge.ThenOutputs(machine), …);
//   const std::vector<Value> merged = merge.Rebuild(results, machine);
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_MERGING_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_MERGING_H_

#include <optional>
#include <string>
#include <vector>

#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// Merges pairs of values. A merged value is `then` if the condition is true at
// run time, else `otherwise`.
class Merge {
 public:
  // Adds a pair. A value that is the same in both branches is kept; tensors and
  // numbers become outputs of the regions; two values that cannot be merged
  // become a conflict, which is an error once it is used. `name`: the
  // variable's name for that error.
  void Add(const Value& then, const Value& otherwise, const std::string& name,
           Machine& machine);

  // Returns the name of a variable that could not be merged because its tensor
  // has another rank or element type in one branch than in the other; empty if
  // there is none.
  const std::string& other_type() const { return other_type_; }

  // ThenOutputs returns the outputs of the then region for all pairs, in order;
  // ElseOutputs those of the else region. The machine must be in that region.
  std::vector<graph::Value*> ThenOutputs(Machine& machine) const;
  std::vector<graph::Value*> ElseOutputs(Machine& machine) const;
  // Returns the merged values of all pairs, made from the results of the `if`.
  std::vector<Value> Rebuild(const std::vector<graph::Value*>& results,
                             Machine& machine) const;

 private:
  struct Output {
    Value then, otherwise;
    DType dtype;
    bool is_tensor;
    Value::Kind kind;
    // Shape of the tensor of zeros that replaces an uninitialized value.
    Shape fill;
  };
  struct Node {
    // The merged value, if both branches have the same one (so that the node
    // has neither an output nor parts).
    Value value;
    // Index of the value's tensor in outputs_; -1 if it is no output of the
    // regions.
    int output = -1;
    // True for a value of which the run decides if it is None. `parts` has the
    // other value and the bool that says if it is None.
    bool is_optional = false;
    // Nodes of the items, if the value is a list or tuple.
    std::vector<Node> parts;
  };
  // True if the two values could be merged: neither the node nor a part of it
  // is a conflict or uninitialized.
  static bool IsMerged(const Node& node);
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
  std::string other_type_;
};

// NewOptional makes a value of which only the run decides if it is None:
// `is_none` is the bool, `value` the other possibility. Its kind is a conflict,
// so code can only test it for None, and use it after such a test.
// OptionalParts returns these two parts; nullopt for values of any other form.
Value NewOptional(Machine& machine, const std::string& text, const Value& value,
                  const Value& is_none);
struct OptionalValue {
  Value value, is_none;
};
std::optional<OptionalValue> OptionalParts(const Value& value);

// Returns the dtype of the scalar that holds a number at run time: i64, f64 or
// bool.
DType ScalarDType(Value::Kind kind);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_MERGING_H_
