// Branches that are decided at run time: both are built, each in a region, and
// the values that variables, tensors and attributes have after them are merged.
#include <set>
#include <utility>

#include "base/one_line.h"
#include "frontends/torchscript/interpreter.h"
#include "frontends/torchscript/interpreter_level.h"
#include "frontends/torchscript/merging.h"

namespace ember::torchscript {

// The state of the interpreter after it executed one branch of an `if`.
// `written`: old values of the tensors and attributes that the branch wrote;
// `raised`: message of the exception with which it ended.
struct Interpreter::Branch {
  std::map<std::string, Value, std::less<>> variables;
  Journal written;
  std::optional<std::string> raised;
  bool returned = false;
};

// Returns a copy of the value with new tensors that have the present contents.
// It keeps the values of a branch before the branch's writes are undone.
Value Interpreter::Frozen(const Value& value, int depth) {
  if (value.is_tensor()) {
    Value made = machine_.NewTensor(machine_.Read(*value.cell));
    made.cell->is_complex = value.cell->is_complex;
    made.cell->quantization = value.cell->quantization;
    return made;
  }
  if (const auto optional = OptionalParts(value);
      optional && depth <= kMaxListDepth && machine_.ok()) {
    return NewOptional(machine_, value.text, Frozen(optional->value, depth + 1),
                       optional->is_none);
  }
  if (!value.is_sequence() || depth > kMaxListDepth || !machine_.ok())
    return value;
  std::vector<Value> items;
  for (const Value& item : value.list->items)
    items.push_back(Frozen(item, depth + 1));
  Value made = value.is(Kind::kTuple) ? machine_.NewTuple(std::move(items))
                                      : machine_.NewList(std::move(items));
  made.list->fields = value.list->fields;
  return made;
}

void Interpreter::RunBranch(const std::vector<Statement>& block,
                            graph::Region& region, Frame& frame,
                            Branch& branch) {
  const auto before = frame.variables;
  Journal journal;
  machine_.Enter(region);
  machine_.Push(journal);
  Execute(block, frame);
  branch.raised = std::exchange(raised_, std::nullopt);
  branch.returned = std::exchange(frame.returned, false);
  if (machine_.ok() && !branch.raised) {
    for (const auto& [name, value] : frame.variables) {
      const auto old = before.find(name);
      const bool is_old = old != before.end() && IsSame(old->second, value);
      branch.variables[name] = is_old ? value : Frozen(value, 0);
    }
  }
  branch.written = machine_.TakeBack(journal);
  for (auto& [key, value] : branch.written.attributes)
    if (value && machine_.ok()) value = Frozen(*value, 0);
  machine_.Pop();
  machine_.Leave();
  frame.variables = before;
}

void Interpreter::ExecuteBoth(const Value& decided, const Statement& statement,
                              Frame& frame) {
  const Level level(*this);
  if (!level.ok()) return;
  const Tensor condition = machine_.Inside(decided.dynamic);
  graph::IfRegions regions(machine_.builder());
  Branch then;
  Branch otherwise;
  RunBranch(statement.body, regions.then(), frame, then);
  if (!machine_.ok()) return;
  // If one branch raises an exception, no `if` is built: the other branch is
  // executed, and the program checks at run time that it is the right one.
  const auto check = [&](const Tensor& held, const std::string& message,
                         const std::vector<Statement>& block) {
    machine_.builder().Require(held.value(), OnOneLine(message));
    Execute(block, frame);
  };
  if (then.raised) {
    return check(ops::Not(condition), *then.raised, statement.otherwise);
  }
  RunBranch(statement.otherwise, regions.otherwise(), frame, otherwise);
  if (!machine_.ok()) return;
  if (otherwise.raised)
    return check(condition, *otherwise.raised, statement.body);
  if (then.returned || otherwise.returned) {
    machine_.FailUnsupported(
        "a return in a branch that only the run decides on is not supported");
    return;
  }
  std::string conflict;
  if (MergeBranches(decided, regions, then, otherwise, frame, conflict)) return;
  // The condition only tests if a dim is 0, and the branches give tensors of
  // other types, so they cannot be merged. Models handle tensors without
  // elements in such branches. The branch for the others is executed, and the
  // program checks that the dim is not 0.
  const bool is_positive = decided.dim_test == Value::DimTest::kIsPositive;
  check(is_positive ? condition : ops::Not(condition),
        "line " + std::to_string(line_) + ": '" + conflict +
            "' has another rank or element type if a dim is 0: expected " +
            decided.dim.ToString() + " to be 1 or more, found 0",
        is_positive ? statement.body : statement.otherwise);
}

bool Interpreter::MergeBranches(const Value& decided, graph::IfRegions& regions,
                                Branch& then, Branch& otherwise, Frame& frame,
                                std::string& conflict) {
  const Tensor condition = machine_.Inside(decided.dynamic);
  Merge merge;
  // A variable is merged only if it exists after both branches.
  std::vector<std::string> names;
  for (const auto& [name, value] : then.variables) {
    const auto other = otherwise.variables.find(name);
    if (other == otherwise.variables.end()) continue;
    names.push_back(name);
    merge.Add(value, other->second, name, machine_);
  }
  conflict = merge.other_type();
  if (!conflict.empty() && decided.dim_test != Value::DimTest::kNone)
    return false;
  // A tensor that only one branch wrote is merged with its value before the
  // branches.
  std::set<Cell*> cells;
  for (const Branch* branch : {&then, &otherwise})
    for (const auto& [cell, last] : branch->written.cells) cells.insert(cell);
  const auto last_of = [&](const Branch& branch, Cell* cell) {
    const auto found = branch.written.cells.find(cell);
    return machine_.NewTensor(found == branch.written.cells.end()
                                  ? machine_.Read(*cell)
                                  : found->second.first);
  };
  for (Cell* cell : cells)
    merge.Add(last_of(then, cell), last_of(otherwise, cell),
              "a tensor that is written to", machine_);
  // An attribute is merged if either branch assigned it.
  std::set<std::pair<Object*, std::string>> attributes;
  for (const Branch* branch : {&then, &otherwise})
    for (const auto& [key, last] : branch->written.attributes)
      attributes.insert(key);
  const auto attribute_of = [](const Branch& branch,
                               const std::pair<Object*, std::string>& key) {
    const auto found = branch.written.attributes.find(key);
    if (found != branch.written.attributes.end() && found->second)
      return *found->second;
    const auto before = key.first->attributes.find(key.second);
    if (before != key.first->attributes.end()) return before->second;
    Value nothing;
    nothing.kind = Kind::kUninitialized;
    return nothing;
  };
  for (const auto& key : attributes)
    merge.Add(attribute_of(then, key), attribute_of(otherwise, key), key.second,
              machine_);

  machine_.Enter(regions.then());
  const std::vector<graph::Value*> then_outputs = merge.ThenOutputs(machine_);
  machine_.Leave();
  machine_.Enter(regions.otherwise());
  const std::vector<graph::Value*> else_outputs = merge.ElseOutputs(machine_);
  machine_.Leave();
  if (!machine_.ok()) return true;
  const std::vector<graph::Value*> results =
      regions.Build(condition.value(), then_outputs, else_outputs);
  if (!machine_.ok()) return true;
  const std::vector<Value> merged = merge.Rebuild(results, machine_);
  size_t next = 0;
  for (const std::string& name : names) frame.variables[name] = merged[next++];
  for (Cell* cell : cells) {
    const Value& value = merged[next++];
    if (value.is_tensor())
      machine_.Write(*cell, machine_.Read(*value.cell));
    else if (machine_.ok())
      machine_.FailUnsupported(
          "expected a tensor of one type to be written "
          "in both branches, found " +
          value.text);
  }
  for (const auto& key : attributes)
    machine_.SetAttribute(*key.first, key.second, merged[next++]);
  return true;
}

}  // namespace ember::torchscript
