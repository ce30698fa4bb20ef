// Executes loops whose number of iterations is only known at run time.
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/one_line.h"
#include "frontends/torchscript/interpreter.h"
#include "frontends/torchscript/interpreter_level.h"
#include "frontends/torchscript/merging.h"

namespace ember::torchscript {
namespace {

void CollectNames(const Expression& target, std::set<std::string>& names) {
  if (target.kind == Expression::Kind::kName) names.insert(target.text);
  if (target.kind == Expression::Kind::kTuple)
    for (const Expression& part : target.parts) CollectNames(part, names);
}

// Collects the names of the variables to which a block assigns, nested blocks
// included.
void CollectAssigned(const std::vector<Statement>& block,
                     std::set<std::string>& names) {
  for (const Statement& statement : block) {
    for (const Expression& target : statement.targets)
      CollectNames(target, names);
    CollectAssigned(statement.body, names);
    CollectAssigned(statement.otherwise, names);
  }
}

}  // namespace

// Builds a loop whose number of iterations is only known at run time. The loop
// carries the tensors and numbers that an iteration may change: those in
// variables, in tensors that the body writes to, and in attributes.
class Interpreter::Loop {
 public:
  Loop(Interpreter& interpreter, const Statement& statement, Frame& frame)
      : interpreter_(interpreter),
        machine_(interpreter.machine_),
        statement_(statement),
        frame_(frame) {}

  void Run(const Value& count) {
    std::set<std::string> assigned;
    CollectAssigned(statement_.body, assigned);
    for (const std::string& name : assigned)
      if (frame_.variables.contains(name)) names_.push_back(name);
    Probe();
    if (!machine_.ok()) return;
    graph::LoopRequest request;
    Gather(request.carried);
    if (!machine_.ok()) return;
    if (is_while()) {
      request.conditional = true;
      const Value proceed = Condition();
      if (!machine_.ok()) return;
      request.condition = machine_.ToScalar(proceed).value();
    } else {
      request.trip = machine_.ToDim(count);
    }
    if (!machine_.ok()) return;
    const std::vector<graph::Value*> results = graph::BuildLoop(
        machine_.builder(), request,
        [this](graph::Region& region, const graph::LoopInputs& in) {
          return Body(region, in);
        });
    if (!machine_.ok()) return;
    Scatter({results.begin(), results.begin() + static_cast<std::ptrdiff_t>(
                                                    request.carried.size())});
  }

 private:
  bool is_while() const { return statement_.kind == Statement::Kind::kWhile; }

  Value Condition() {
    return interpreter_.Truth(interpreter_.Evaluate(statement_.value, frame_));
  }

  // Executes the body once in a region that is discarded, to find out what it
  // writes to. All effects of this execution are undone.
  void Probe() {
    const auto before = frame_.variables;
    graph::Region region(machine_.builder(), "probe");
    graph::Value* iteration = region.Input("iteration", {DType::kI64, {}});
    Journal journal;
    machine_.Enter(region);
    machine_.Push(journal);
    Blur();
    RunBody(Tensor(&region.builder(), iteration));
    std::map<std::string, Filling> fillings;
    for (const std::string& name : names_) {
      if (before.find(name)->second.is(Kind::kUninitialized))
        fillings.emplace(name, FillingFor(frame_.variables[name], 0));
    }
    machine_.TakeBack(journal);
    machine_.Pop();
    machine_.Leave();
    frame_.variables = before;
    for (const auto& [name, filling] : fillings)
      if (machine_.ok()) frame_.variables[name] = Filled(filling);
    for (const auto& [cell, old] : journal.cells) cells_.push_back(cell);
    for (const auto& [key, old] : journal.attributes) {
      if (!old) {
        machine_.FailUnsupported(
            "an attribute that a loop of unknown length makes is not "
            "supported: '" +
            OnOneLine(key.second) + "'");
        return;
      }
      attributes_.push_back(key);
    }
  }

  // Describes the value that a variable without a value before the loop gets in
  // an iteration, such as the result of an early return. The loop must carry
  // some initial value of the same structure; no code reads it before the
  // variable is assigned.
  struct Filling {
    // For a tensor or number, `type` has its element type; for a list or tuple,
    // `parts` has its items. Any other value is carried as it is.
    Value value;
    graph::TensorType type;
    std::vector<Filling> parts;
  };
  Filling FillingFor(const Value& value, int depth) {
    Filling filling;
    filling.value.kind = Kind::kUninitialized;
    if (!machine_.ok() || depth > kMaxListDepth || !machine_.Charge(1))
      return filling;
    if (value.is_tensor()) {
      // The initial value is made outside of the body, so its extents must be
      // constants.
      const Tensor tensor = machine_.Read(*value.cell);
      if (!machine_.ok() || value.is_complex() || value.is_quantized() ||
          !graph::IsConstant(tensor.shape()))
        return filling;
      filling.type = tensor.value()->type();
    } else if (value.is_sequence()) {
      const std::vector<Value> items = value.list->items;
      for (const Value& item : items)
        filling.parts.push_back(FillingFor(item, depth + 1));
    } else if (!value.is_number()) {
      return filling;
    }
    filling.value = value;
    return filling;
  }
  Value Filled(const Filling& filling) {
    graph::GraphBuilder& builder = machine_.builder();
    const auto zero = [&](DType dtype) {
      return Tensor(&builder, builder.Scalar(0, dtype));
    };
    const Value& value = filling.value;
    if (value.is_tensor()) {
      return machine_.NewTensor(
          ops::Broadcast(zero(filling.type.dtype), filling.type.shape));
    }
    if (value.is_number())
      return Value::Dynamic(value.kind, zero(ScalarDType(value.kind)));
    if (!value.is_sequence()) return value;
    std::vector<Value> items;
    for (const Filling& part : filling.parts) items.push_back(Filled(part));
    Value made = value.is(Kind::kTuple) ? machine_.NewTuple(std::move(items))
                                        : machine_.NewList(std::move(items));
    made.list->fields = value.list->fields;
    return made;
  }

  // Makes the loop's numeric variables unknown (scalars of the graph) for the
  // body, because the numbers may change from iteration to iteration.
  void Blur() {
    for (const std::string& name : names_) {
      Value& value = frame_.variables[name];
      if (value.is_number())
        value = Value::Dynamic(value.kind, machine_.ToScalar(value));
    }
  }

  void RunBody(const Tensor& iteration) {
    if (!is_while()) {
      interpreter_.Assign(statement_.targets[0],
                          Value::Dynamic(Kind::kInt, iteration), frame_);
    }
    interpreter_.Execute(statement_.body, frame_);
    if (interpreter_.raised_ && machine_.ok()) {
      machine_.FailUnsupported("a loop that always raises an exception: " +
                               OnOneLine(*interpreter_.raised_));
    }
    if (frame_.returned && machine_.ok()) {
      machine_.FailUnsupported(
          "a return in a loop of unknown length is not supported");
    }
  }

  // True for values that a graph cannot represent, such as texts. A loop cannot
  // carry them, so an iteration must not change them.
  static bool IsInvariant(const Value& value) {
    return !value.is_tensor() && !value.is_number() && !value.is_sequence() &&
           !value.is(Kind::kConflict);
  }
  void CheckInvariants(
      const std::map<std::string, Value, std::less<>>& before) {
    for (const std::string& name : names_) {
      const Value& was = before.find(name)->second;
      const Value& now = frame_.variables[name];
      if ((!IsInvariant(was) && !IsInvariant(now)) || IsSame(was, now))
        continue;
      machine_.FailUnsupported(
          "expected tensors and numbers to be carried by a loop of unknown "
          "length, found '" +
          OnOneLine(name) + "', which is " + Describe(was) +
          " before an iteration and " + Describe(now) + " after it");
      return;
    }
  }

  // Appends the graph's tensors for a value: the value itself, or the tensors
  // and numbers in a list or tuple, in order.
  void Flatten(const Value& value, std::vector<graph::Value*>& flat,
               const std::string& name, int depth = 0) {
    if (!machine_.Charge(1)) return;
    if (depth > kMaxListDepth) {
      machine_.FailUnsupported("expected lists that are at most " +
                               std::to_string(kMaxListDepth) +
                               " deep to be carried by a loop of unknown "
                               "length, found '" +
                               OnOneLine(name) + "'");
    } else if (value.is_complex() || value.is_quantized()) {
      machine_.FailUnsupported(
          "expected tensors of real numbers to be carried by a loop of unknown "
          "length, found '" +
          OnOneLine(name) + "', " + Describe(value));
    } else if (value.is_tensor()) {
      flat.push_back(machine_.Read(*value.cell).value());
    } else if (value.is_number()) {
      flat.push_back(
          ops::Cast(machine_.ToScalar(value), ScalarDType(value.kind)).value());
    } else if (value.is_sequence() && flat.size() < 10000) {
      for (const Value& item : value.list->items)
        Flatten(item, flat, name, depth + 1);
    } else if (!IsInvariant(value)) {
      machine_.FailUnsupported(
          "expected tensors and numbers to be carried by a loop of unknown "
          "length, found '" +
          OnOneLine(name) + "', " + Describe(value));
    }
  }
  // The inverse of Flatten: returns a value with the structure of `pattern`,
  // whose tensors and numbers are taken from `flat`, from index `next` on.
  Value Unflatten(const Value& pattern, const std::vector<graph::Value*>& flat,
                  size_t& next, int depth = 0) {
    if (depth > kMaxListDepth || !machine_.Charge(1)) return pattern;
    if (pattern.is_tensor() || pattern.is_number()) {
      if (next >= flat.size()) return {};
      const Tensor tensor(&machine_.builder(), flat[next++]);
      if (pattern.is_tensor()) return machine_.NewTensor(tensor);
      return Value::Dynamic(pattern.kind, tensor);
    }
    if (!pattern.is_sequence()) return pattern;
    const std::vector<Value> parts = pattern.list->items;
    std::vector<Value> items;
    for (const Value& item : parts)
      items.push_back(Unflatten(item, flat, next, depth + 1));
    Value made = pattern.is(Kind::kTuple) ? machine_.NewTuple(std::move(items))
                                          : machine_.NewList(std::move(items));
    made.list->fields = pattern.list->fields;
    return made;
  }

  void Gather(std::vector<graph::Value*>& flat) {
    for (const std::string& name : names_)
      Flatten(frame_.variables[name], flat, name);
    for (Cell* cell : cells_) flat.push_back(machine_.Read(*cell).value());
    for (const auto& key : attributes_)
      Flatten(key.first->attributes[key.second], flat, key.second);
  }
  void Scatter(const std::vector<graph::Value*>& flat) {
    size_t next = 0;
    for (const std::string& name : names_)
      frame_.variables[name] = Unflatten(frame_.variables[name], flat, next);
    for (Cell* cell : cells_) {
      if (next < flat.size())
        machine_.Write(*cell, Tensor(&machine_.builder(), flat[next++]));
    }
    for (const auto& key : attributes_) {
      machine_.SetAttribute(
          *key.first, key.second,
          Unflatten(key.first->attributes[key.second], flat, next));
    }
  }

  graph::LoopOutputs Body(graph::Region& region, const graph::LoopInputs& in) {
    const auto before = frame_.variables;
    Journal journal;
    machine_.Enter(region);
    machine_.Push(journal);
    graph::LoopOutputs out;
    Scatter(in.carried);
    RunBody(Tensor(&region.builder(), in.iteration));
    if (machine_.ok() && is_while())
      out.proceed = machine_.ToScalar(Condition()).value();
    if (machine_.ok()) CheckInvariants(before);
    if (machine_.ok()) Gather(out.carried);
    machine_.TakeBack(journal);
    machine_.Pop();
    machine_.Leave();
    frame_.variables = before;
    return out;
  }

  Interpreter& interpreter_;
  Machine& machine_;
  const Statement& statement_;
  Frame& frame_;
  std::vector<std::string> names_;
  std::vector<Cell*> cells_;
  std::vector<std::pair<Object*, std::string>> attributes_;
};

void Interpreter::ExecuteOpenLoop(const Statement& statement,
                                  const Value& count, Frame& frame) {
  const Level level(*this);
  if (!level.ok()) return;
  Loop(*this, statement, frame).Run(count);
}

}  // namespace ember::torchscript
