#include "compiler/passes/simplify.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "compiler/graph/operators.h"
#include "compiler/passes/constant_value.h"
#include "compiler/passes/permutation.h"

namespace ember::compiler {
namespace {

using graph::Dim;
using graph::Graph;
using graph::Operation;
using graph::Shape;
using graph::Value;

bool SameType(const Value* a, const Value* b) { return a->type() == b->type(); }

// If the operation has the form x op c, where the constant c is the operator's
// neutral element (such as 0 for add), and the result has x's type, returns x.
// Returns null otherwise.
Value* NeutralOperand(const Operation& operation) {
  const std::string_view name = operation.name();
  const Value* result = operation.result();
  const auto neutral = [&](int index, double value, bool exact_sign) {
    const std::optional<double> constant =
        UniformConstant(operation.operand(index));
    return constant.has_value() && *constant == value &&
           (!exact_sign || std::signbit(*constant) == std::signbit(value)) &&
           SameType(operation.operand(1 - index), result);
  };
  const bool is_float = IsFloat(result->dtype());
  if (name == "add") {
    const double zero = is_float ? -0.0 : 0.0;
    if (neutral(1, zero, is_float)) return operation.operand(0);
    if (neutral(0, zero, is_float)) return operation.operand(1);
  }
  if (name == "subtract" && neutral(1, 0.0, is_float))
    return operation.operand(0);
  if (name == "multiply") {
    if (neutral(1, 1.0, false)) return operation.operand(0);
    if (neutral(0, 1.0, false)) return operation.operand(1);
  }
  if (name == "divide" && neutral(1, 1.0, false)) return operation.operand(0);
  return nullptr;
}

bool IsZero(const Shape& shape) {
  for (const Dim& dim : shape) {
    if (dim != Dim(0)) return false;
  }
  return true;
}

// Returns a value of the graph that equals the operation's result and can
// replace it; null if there is none.
Value* Existing(const Operation& operation) {
  const std::string_view name = operation.name();
  if (operation.operand_count() == 0 || operation.results().size() != 1)
    return nullptr;
  Value* first = operation.operand(0);
  const bool same_type = SameType(first, operation.result());
  if (name == "reshape" || name == "assume" || name == "broadcast" ||
      name == "cast" || name == "bitcast") {
    return same_type ? first : nullptr;
  }
  if (name == "transpose") {
    return IsIdentity(operation.attributes().Get<Permutation>("permutation"))
               ? first
               : nullptr;
  }
  if (name == "slice") {
    for (int64_t step :
         operation.attributes().Get<std::vector<int64_t>>("steps")) {
      if (step != 1) return nullptr;
    }
    return same_type && IsZero(operation.attributes().Get<Shape>("starts"))
               ? first
               : nullptr;
  }
  if (name == "pad") {
    return IsZero(operation.attributes().Get<Shape>("low")) &&
                   IsZero(operation.attributes().Get<Shape>("high"))
               ? first
               : nullptr;
  }
  if (name == "concat") return operation.operand_count() == 1 ? first : nullptr;
  if (name == "reduce") {
    return operation.attributes().Get<std::vector<int64_t>>("axes").empty() &&
                   same_type
               ? first
               : nullptr;
  }
  if (operation.operand_count() == 2) return NeutralOperand(operation);
  return nullptr;
}

// If the value is a float sum of x and a uniform constant 0.0 or -0.0, in
// either order, and has the type of x, returns x; null otherwise.
Value* WithoutZero(const Value* value) {
  const Operation* add = value->producer();
  if (add == nullptr || add->name() != "add" || !IsFloat(value->dtype()))
    return nullptr;
  for (int i = 0; i < 2; ++i) {
    if (UniformConstant(add->operand(i)) == 0.0 &&
        SameType(add->operand(1 - i), value)) {
      return add->operand(1 - i);
    }
  }
  return nullptr;
}

bool IsPlainPad(const Operation* operation) {
  return operation != nullptr && operation->name() == "pad" &&
         operation->attributes().Get<std::string>("mode") == "constant";
}

// True if every amount of a pad at one end is a constant of at least 0, so that
// the pad removes no elements at that end.
bool CropsNothing(const Shape& amounts) {
  return std::ranges::all_of(amounts, [](const Dim& dim) {
    return dim.is_constant() && dim.constant() >= 0;
  });
}

// Returns the constant that the pad fills with; nothing if the value is not
// constant or not uniform.
std::optional<double> FillOf(const Operation& pad) {
  return pad.operand_count() == 1 ? 0.0 : UniformConstant(pad.operand(1));
}

// Rewrites pad(pad(x)) with equal padding values as one pad, whose amounts are
// the sums of the amounts.
void JoinPads(Graph& graph, Operation* pad) {
  const Operation* inner = pad->operand(0)->producer();
  if (!IsPlainPad(pad) || !IsPlainPad(inner)) return;
  Shape low = inner->attributes().Get<Shape>("low");
  Shape high = inner->attributes().Get<Shape>("high");
  const std::optional<double> fill = FillOf(*pad);
  if (!CropsNothing(low) || !CropsNothing(high) || !fill ||
      FillOf(*inner) != fill ||
      std::signbit(*fill) != std::signbit(*FillOf(*inner))) {
    return;
  }
  const Shape outer_low = pad->attributes().Get<Shape>("low");
  const Shape outer_high = pad->attributes().Get<Shape>("high");
  for (size_t d = 0; d < low.size(); ++d) {
    low[d] = low[d] + outer_low[d];
    high[d] = high[d] + outer_high[d];
  }
  graph.SetOperand(pad, 0, inner->operand(0));
  graph.SetAttribute(pad, "low", low);
  graph.SetAttribute(pad, "high", high);
}

}  // namespace

Status Simplify(Graph& graph) {
  for (Operation* operation : graph.Operations()) {
    if (Value* existing = Existing(*operation)) {
      graph.ReplaceAllUses(operation->result(), existing);
      graph.Erase(operation);
      continue;
    }
    const std::string_view name = operation->name();
    // Rewrites i32(x + 0.0) as i32(x): x + 0.0 differs from x only for x =
    // -0.0, and integers have only one zero.
    if (name == "cast" && IsInteger(operation->result()->dtype())) {
      if (Value* x = WithoutZero(operation->operand(0)))
        graph.SetOperand(operation, 0, x);
      continue;
    }
    if (name == "pad") JoinPads(graph, operation);
    // If two reshapes follow each other, or two broadcasts of which the first
    // adds no dims, only the last shape matters, so the first one is skipped.
    if (name == "reshape" || name == "broadcast") {
      Operation* inner = operation->operand(0)->producer();
      if (inner != nullptr && inner->name() == name &&
          (name == "reshape" ||
           inner->result()->rank() == inner->operand(0)->rank())) {
        graph.SetOperand(operation, 0, inner->operand(0));
      }
    }
  }
  return OkStatus();
}

}  // namespace ember::compiler
