#include "jit/loops/testing/random_expressions.h"

#include <algorithm>
#include <utility>

#include "base/rounding.h"
#include "tensor/scalar.h"

namespace ember::loops {

using tensor::Opcode;

NodeId RandomExpressions::Raw(Opcode opcode, DType type,
                              std::initializer_list<NodeId> operands) {
  return nest_.pool.Intern(opcode, type, {operands.begin(), operands.size()});
}

NodeId RandomExpressions::Make(Opcode opcode, DType type,
                               std::initializer_list<NodeId> operands) {
  if (!options_.simplify) return Raw(opcode, type, operands);
  return simplifier_.Make(opcode, type, {operands.begin(), operands.size()});
}

NodeId RandomExpressions::Integer(int64_t value, DType type) {
  return nest_.pool.Constant(tensor::IntegerToBits(value, type), type);
}

NodeId RandomExpressions::Constant(DType type) {
  if (!IsFloat(type)) return Integer(Below(12) - 4, type);
  constexpr double kValues[] = {0.0, 1.0, -1.0, 0.5, 2.0, 3.25, -0.0, 100.0};
  return nest_.pool.Constant(tensor::DoubleToBits(kValues[Below(8)], type),
                             type);
}

RandomExtent RandomExpressions::Steps(const RandomExtent& extent,
                                      const RandomExtent& step) {
  const int64_t steps = DivideRoundingUp(extent.value, step.value);
  if (extent.is_constant) return ConstantExtent(steps);
  const NodeId last =
      MakeIndex(Opcode::kAdd, extent.node, Integer(step.value - 1));
  return {MakeIndex(Opcode::kFloorDivide, last, step.node), steps};
}

RandomExtent RandomExpressions::AnyExtent(int64_t largest) {
  constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 6, 8, 11, 16, 20};
  while (true) {
    RandomExtent extent = ConstantExtent(kSizes[Below(10)]);
    const RandomExtent& n = Pick(parameters);
    if (Chance(3)) {
      extent = n;
    } else if (Chance(8)) {
      const NodeId twice = MakeIndex(Opcode::kMultiply, n.node, Integer(2));
      extent = {MakeIndex(Opcode::kAdd, twice, Integer(1)), n.value * 2 + 1};
    }
    if (extent.value <= largest) return extent;
  }
}

std::vector<RandomExtent> RandomExpressions::Extents(int rank, int64_t room) {
  std::vector<RandomExtent> extents;
  for (int i = 0; i < rank; ++i) {
    extents.push_back(AnyExtent(std::max<int64_t>(room, 1)));
    room /= std::max<int64_t>(extents.back().value, 1);
  }
  return extents;
}

RandomExtent RandomExpressions::Times(const RandomExtent& a,
                                      const RandomExtent& b) {
  if (a.is_constant && b.is_constant) return ConstantExtent(a.value * b.value);
  return {MakeIndex(Opcode::kMultiply, a.node, b.node), a.value * b.value};
}

// --- guards ---

NodeId RandomExpressions::InBounds(NodeId index, NodeId extent) {
  const NodeId zero = Integer(0), one = Integer(1);
  const auto compare = [&](Opcode opcode, NodeId a, NodeId b) {
    return Raw(opcode, DType::kBool, {a, b});
  };
  const NodeId below =
      Chance(3) ? compare(Opcode::kLessEqual, index,
                          Raw(Opcode::kSubtract, DType::kI64, {extent, one}))
                : compare(Opcode::kLess, index, extent);
  const NodeId above = compare(Opcode::kLessEqual, zero, index);
  if (Chance(2)) return Raw(Opcode::kAnd, DType::kBool, {above, below});
  const NodeId outside = Raw(Opcode::kOr, DType::kBool,
                             {compare(Opcode::kLess, index, zero),
                              Raw(Opcode::kNot, DType::kBool, {below})});
  return Raw(Opcode::kNot, DType::kBool, {outside});
}

void RandomExpressions::Guard(NodeId index, const RandomExtent& extent) {
  if (!options_.guarded && Chance(15)) return;
  Statement guard;
  guard.kind = Statement::Kind::kIf;
  guard.condition = InBounds(index, extent.node);
  guards_.push_back(std::move(guard));
}

Block RandomExpressions::Guarded(Statement statement) {
  Block block;
  block.push_back(std::move(statement));
  while (!guards_.empty()) {
    Statement guard = std::move(guards_.back());
    guards_.pop_back();
    if (guard.kind == Statement::Kind::kCheck) {
      block.insert(block.begin(), std::move(guard));
      continue;
    }
    guard.body = std::move(block);
    block.clear();
    block.push_back(std::move(guard));
  }
  return block;
}

// --- indices ---

// Returns an index that is near 0..extent but may be out of bounds: a sum of
// variables and constants, for use with a guard.
NodeId RandomExpressions::RoughIndex() {
  const auto with = [&](Opcode opcode, NodeId a, int b) {
    return Make(opcode, DType::kI64, {a, Integer(b)});
  };
  NodeId index = Integer(Below(5));
  const int terms = 1 + Below(2);
  for (int i = 0; i < terms && !variables.empty(); ++i) {
    NodeId term = Pick(variables).node;
    if (Chance(3)) term = with(Opcode::kMultiply, term, 1 + Below(4));
    if (Chance(5)) term = with(Opcode::kFloorDivide, term, 1 + Below(4));
    if (Chance(6)) term = with(Opcode::kModulo, term, 1 + Below(5));
    index = Make(Chance(4) ? Opcode::kSubtract : Opcode::kAdd, DType::kI64,
                 {index, term});
  }
  return index;
}

// Returns an index that is loaded from an integer buffer, and adds a check that
// it is in bounds. No other task changes the buffer. Returns nullopt if the
// chosen buffer does not fit.
std::optional<NodeId> RandomExpressions::GatheredIndex(
    const RandomExtent& extent) {
  const RandomBuffer& source = Pick(readable);
  if (!IsInteger(source.type) || source.changes || source.extents.empty() ||
      source.scope == MemoryScope::kRegister || extent.value == 0) {
    return std::nullopt;
  }
  const std::optional<NodeId> load = Load(source);
  if (!load) return std::nullopt;
  NodeId index = Make(Opcode::kCast, DType::kI64, {*load});
  // In 59 of 60 cases the loaded value is reduced to the extent. In the others
  // it stays as it is, so that the check may fail.
  if (!Chance(60)) {
    index = Make(Opcode::kModulo, DType::kI64,
                 {index, Integer(1 + Below(static_cast<int>(extent.value)))});
  }
  Statement check;
  check.kind = Statement::Kind::kCheck;
  check.buffer = source.number;
  check.dim = 0;
  check.index = index;
  check.extent = extent.node;
  if (options_.guarded || !Chance(15)) guards_.push_back(std::move(check));
  return index;
}

NodeId RandomExpressions::Index(const RandomExtent& extent) {
  // variables of the surrounding loops that are in bounds whatever the
  // parameters are
  std::vector<RandomVariable> fitting;
  for (const RandomVariable& variable : variables) {
    const bool same =
        extent.parameter >= 0 && variable.extent.parameter == extent.parameter;
    const bool both_constant =
        extent.is_constant && variable.extent.is_constant;
    if (same || (both_constant && variable.extent.value <= extent.value)) {
      fitting.push_back(variable);
    }
  }
  const auto clamp = [&](NodeId index) {
    const NodeId last =
        Make(Opcode::kSubtract, DType::kI64, {extent.node, Integer(1)});
    const NodeId positive =
        Make(Opcode::kMaximum, DType::kI64, {index, Integer(0)});
    return Make(Opcode::kMinimum, DType::kI64, {positive, last});
  };
  switch (Below(8)) {
    case 0:
      if (!extent.is_constant) break;
      return Make(Opcode::kModulo, DType::kI64, {RoughIndex(), extent.node});
    case 1:
      if (!extent.is_constant) break;
      return clamp(RoughIndex());
    case 2:
      if (const std::optional<NodeId> index = GatheredIndex(extent)) {
        return *index;
      }
      break;
    case 3:
      if (fitting.empty()) break;
      return Make(
          Opcode::kSubtract, DType::kI64,
          {Make(Opcode::kSubtract, DType::kI64, {extent.node, Integer(1)}),
           Pick(fitting).node});
    case 4:
      if (extent.is_constant) {
        return Integer(Below(static_cast<int>(extent.value)));
      }
      break;
    case 5: {
      const NodeId index = RoughIndex();
      Guard(index, extent);
      return index;
    }
    default:
      break;
  }
  if (!fitting.empty()) return Pick(fitting).node;
  const NodeId index = Chance(2) ? clamp(RoughIndex()) : RoughIndex();
  Guard(index, extent);
  return index;
}

// Returns indices for a register buffer: constants and unrolled variables, and
// perhaps a vector variable in the last dim. If each invocation has its own
// elements, the first index is the invocation loop's variable.
std::optional<std::vector<NodeId>> RandomExpressions::RegisterIndices(
    const RandomBuffer& buffer) {
  std::vector<NodeId> indices;
  if (buffer.per_invocation) {
    const auto around = std::ranges::find(variables, LoopKind::kInvocation,
                                          &RandomVariable::kind);
    if (around == variables.end() ||
        around->extent.value != buffer.extents[0].value) {
      return std::nullopt;
    }
    indices.push_back(around->node);
  }
  for (size_t i = indices.size(); i < buffer.extents.size(); ++i) {
    const int64_t extent = buffer.extents[i].value;
    std::vector<NodeId> fitting = {Integer(Below(static_cast<int>(extent)))};
    for (const RandomVariable& variable : variables) {
      const bool serves = variable.kind == LoopKind::kUnrolled ||
                          (variable.kind == LoopKind::kVector &&
                           i + 1 == buffer.extents.size());
      if (!serves || variable.extent.value > extent) continue;
      fitting.push_back(variable.node);
      const int64_t rest = extent - variable.extent.value;
      fitting.push_back(
          Make(Opcode::kAdd, DType::kI64, {variable.node, Integer(rest)}));
    }
    indices.push_back(Pick(fitting));
  }
  return indices;
}

std::optional<NodeId> RandomExpressions::Load(const RandomBuffer& buffer) {
  Opcode opcode = Opcode::kLoad;
  std::vector<NodeId> operands;
  if (buffer.scope == MemoryScope::kRegister) {
    std::optional<std::vector<NodeId>> indices = RegisterIndices(buffer);
    if (!indices) return std::nullopt;
    operands = std::move(*indices);
  } else {
    operands.assign(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(
                                                     buffer.own_rows));
    const bool pads = Chance(5);
    for (size_t i = operands.size(); i < buffer.extents.size(); ++i) {
      operands.push_back(pads ? RoughIndex() : Index(buffer.extents[i]));
    }
    if (pads) {
      opcode = Opcode::kPad;
      operands.push_back(Constant(buffer.type));
    }
  }
  return nest_.pool.Intern(opcode, buffer.type, operands, 0, /*scope=*/1,
                           buffer.number);
}

NodeId RandomExpressions::LoadAlong(const RandomBuffer& buffer, NodeId variable,
                                    int64_t count) {
  std::vector<NodeId> indices;
  for (size_t d = 0; d + 1 < buffer.extents.size(); ++d)
    indices.push_back(Index(buffer.extents[d]));
  const int64_t room = buffer.extents.back().value - count;
  int64_t begin = Below(static_cast<int>(room + 1));
  if (begin % 2 == 0) begin -= begin % 4;
  indices.push_back(MakeIndex(Opcode::kAdd, variable, Integer(begin)));
  return nest_.pool.Intern(Opcode::kLoad, buffer.type, indices, 0, 1,
                           buffer.number);
}

// --- values ---

NodeId RandomExpressions::SmallValue(DType type) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    const RandomBuffer& source = Pick(readable);
    if (source.scope != MemoryScope::kInput) continue;
    // Pads are left out, because the default value of a pad may be large.
    const std::optional<NodeId> load = Load(source);
    if (!load || nest_.pool[*load].opcode != Opcode::kLoad) continue;
    return Make(Opcode::kCast, type, {*load});
  }
  return Make(Opcode::kCast, type, {Integer(Below(5), DType::kI8)});
}

NodeId RandomExpressions::Leaf(DType type) {
  if (Chance(8)) return Constant(type);
  if (Chance(8)) return Make(Opcode::kCast, type, {RoughIndex()});
  for (int attempt = 0; attempt < 4; ++attempt) {
    const RandomBuffer& source = Pick(readable);
    if (source.type != type) continue;
    if (const std::optional<NodeId> load = Load(source)) return *load;
  }
  const std::optional<NodeId> load = Load(Pick(readable));
  return load ? Make(Opcode::kCast, type, {*load}) : Constant(type);
}

NodeId RandomExpressions::Condition(int depth) {
  const DType type = AnyType();
  const Opcode opcode =
      static_cast<Opcode>(static_cast<int>(Opcode::kEqual) + Below(4));
  const NodeId a = Value(type, depth - 1), b = Value(type, depth - 1);
  return Make(opcode, DType::kBool, {a, b});
}

NodeId RandomExpressions::BoolValue(int depth) {
  if (!Chance(4)) return Condition(depth);
  constexpr DType kFloats[] = {DType::kF16, DType::kBF16,     DType::kF32,
                               DType::kF64, DType::kF8E4M3FN, DType::kF8E5M2};
  const NodeId value = Value(kFloats[Below(6)], depth - 1);
  return Make(Chance(2) ? Opcode::kIsNan : Opcode::kIsInfinite, DType::kBool,
              {value});
}

NodeId RandomExpressions::Value(DType type, int depth) {
  if (depth <= 0 || Chance(6)) return Leaf(type);
  switch (Below(7)) {
    case 0:
      return UnaryValue(type, depth);
    case 1: {
      const NodeId condition = BoolValue(depth - 1);
      const NodeId a = Value(type, depth - 1), b = Value(type, depth - 1);
      return Make(Opcode::kSelect, type, {condition, a, b});
    }
    case 2:
      return Make(Opcode::kCast, type, {Value(AnyType(), depth - 1)});
    case 3:
      if (type == DType::kBool) return BoolValue(depth);
      if (IsFloat(type) && !options_.bits_as_floats) return Leaf(type);
      return BitcastValue(type, depth);
    default:
      return BinaryValue(type, depth);
  }
}

// Returns a bitcast of an integer of the same width. Bitcasts from floats are
// not made, because the bits of a NaN are not specified.
NodeId RandomExpressions::BitcastValue(DType type, int depth) {
  while (true) {
    const DType from = AnyType();
    if (!IsInteger(from) || DTypeByteSize(from) != DTypeByteSize(type)) {
      continue;
    }
    return Make(Opcode::kBitcast, type, {Value(from, depth - 1)});
  }
}

NodeId RandomExpressions::UnaryValue(DType type, int depth) {
  const int first = static_cast<int>(Opcode::kNegate),
            last = static_cast<int>(Opcode::kErf);
  while (true) {
    const Opcode opcode = static_cast<Opcode>(first + Below(last - first + 1));
    if (!tensor::AcceptsType(tensor::InfoOf(opcode).kinds, type)) continue;
    if (options_.exact && !tensor::IsExact(opcode, type)) continue;
    return Make(opcode, type, {Value(type, depth - 1)});
  }
}

NodeId RandomExpressions::BinaryValue(DType type, int depth) {
  const int first = static_cast<int>(Opcode::kAdd),
            last = static_cast<int>(Opcode::kShiftRight);
  while (true) {
    const Opcode opcode = static_cast<Opcode>(first + Below(last - first + 1));
    if (!tensor::AcceptsType(tensor::InfoOf(opcode).kinds, type)) continue;
    if (options_.exact &&
        (opcode == Opcode::kPower || !tensor::IsExact(opcode, type))) {
      continue;
    }
    const bool is_remainder =
        opcode == Opcode::kModulo || opcode == Opcode::kRemainder;
    if (!options_.float_remainders && is_remainder && IsFloat(type)) continue;
    const NodeId a = Value(type, depth - 1), b = Value(type, depth - 1);
    return Make(opcode, type, {a, b});
  }
}

}  // namespace ember::loops
