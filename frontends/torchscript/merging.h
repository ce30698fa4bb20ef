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

  // Returns the name of a tensor that has another rank or element type in one
  // branch than in the other; empty if there is none.
  const std::string& other_type() const { return other_type_; }

  // These functions return the outputs of the then region and of the else
  // region for all pairs, in order. The region must be entered.
  std::vector<graph::Value*> ThenOutputs(Machine& machine) const;
  std::vector<graph::Value*> ElseOutputs(Machine& machine) const;
  // Returns the merged values, given the results of the `if`.
  std::vector<Value> Rebuild(const std::vector<graph::Value*>& results,
                             Machine& machine) const;

 private:
  struct Output {
    Value then, otherwise;
    DType dtype;
    bool is_tensor;
    Value::Kind kind;
    Shape fill;  // Shape of the tensor that replaces an uninitialized value.
  };
  struct Node {
    // The merged value, if the node has neither output nor parts.
    Value value;
    // Index in outputs_; -1 if the value is no output.
    int output = -1;
    // True for a value that may be None. `parts` has the other value and the
    // bool that says if it is None.
    bool is_optional = false;
    std::vector<Node> parts;  // The nodes of the items of a list or tuple.
  };
  // True if the node is no conflict and has none.
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

// A value that is None or another value, as the run decides, is a conflict: it
// cannot be used but to test it for None, and after such a test. NewOptional
// makes one; `is_none`: the bool that says which it is. OptionalParts returns
// the other value and the bool; nullopt for any other value.
Value NewOptional(Machine& machine, const std::string& text, const Value& value,
                  const Value& is_none);
struct OptionalValue {
  Value value, is_none;
};
std::optional<OptionalValue> OptionalParts(const Value& value);

// Returns the type of the scalar that holds a number at run time.
DType ScalarDType(Value::Kind kind);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_MERGING_H_
