#include "jit/spirv/expression_emitter.h"

#include <algorithm>
#include <bit>

#include "base/concat.h"
#include "jit/gpu/element_sum.h"
#include "jit/loops/raw.h"
#include "jit/loops/walk.h"
#include "tensor/scalar.h"

namespace ember::jit::spirv {

using loops::BoundsTest;
using tensor::LinearSum;
using tensor::LinearTerm;
using tensor::Node;
using tensor::Opcode;

namespace {

bool IsLoad(const Node& node) {
  return node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad;
}

}  // namespace

// --- scopes

void ExpressionEmitter::Push(std::optional<NodeId> variable, Value value,
                             bool has_prologue) {
  c_.EnterScope(has_prologue);
  scopes_.push_back({.is_branch = false, .variable = variable, .values = {}});
  if (variable) bound_[*variable] = value;
}

void ExpressionEmitter::EnterEntry() {
  depths_.EnterEntry();
  Push(std::nullopt, {}, true);
}

void ExpressionEmitter::EnterLoop(NodeId variable, Value value) {
  depths_.EnterLoop(variable);
  Push(variable, value, true);
}

void ExpressionEmitter::EnterBinding(NodeId variable, Value value,
                                     int outermost) {
  depths_.EnterBinding(variable, outermost);
  Push(variable, value, false);
}

void ExpressionEmitter::EnterBranch() {
  depths_.EnterBranch();
  Push(std::nullopt, {}, true);
  scopes_.back().is_branch = true;
}

void ExpressionEmitter::Leave() {
  depths_.Leave();
  c_.LeaveScope();
  if (scopes_.back().variable) bound_.erase(*scopes_.back().variable);
  scopes_.pop_back();
  loaded_.clear();
}

// --- values

bool ExpressionEmitter::Fits(NodeId id) const {
  return !loops::IsWide(nest_, id);
}

template <typename Make>
Value ExpressionEmitter::Memorized(NodeId id, bool is_low, Make&& make) {
  const uint64_t key = uint64_t{id} * 2 + is_low;
  if (depths_.HasLoad(id)) {
    if (const auto known = loaded_.find(key); known != loaded_.end())
      return known->second;
    const Value value = make();
    loaded_[key] = value;
    return value;
  }
  const int home = depths_.HomeOf(id);
  for (size_t i = static_cast<size_t>(home); i < scopes_.size(); ++i) {
    if (i != static_cast<size_t>(home) && !scopes_[i].is_branch) continue;
    const auto known = scopes_[i].values.find(key);
    if (known != scopes_[i].values.end()) return known->second;
  }
  const int depth = depths_.DepthOf(id);
  const CodeBuilder::At at(c_, depth);
  const Value value = make();
  scopes_[static_cast<size_t>(std::max(home, depth))].values[key] = value;
  return value;
}

Value ExpressionEmitter::Emit(NodeId id) {
  const Node& node = nest_.pool[id];
  if (node.opcode == Opcode::kConstant)
    return arithmetic_.conversions().Constant(node.type, node.immediate);
  return Memorized(id, false, [&] {
    if (node.type == DType::kI64 && !IsLoad(node) && Fits(id))
      return c_.ToLong(EmitIndex(id), /*is_signed=*/true);
    return EmitNode(id, node);
  });
}

Value ExpressionEmitter::EmitIndex(NodeId id) {
  const Node& node = nest_.pool[id];
  if (node.opcode == Opcode::kConstant)
    return c_.Constant(Scalar::kI32, node.immediate);
  return Memorized(id, true, [&] { return EmitLowNode(id, node); });
}

Value ExpressionEmitter::EmitNode(NodeId id, const Node& node) {
  switch (node.opcode) {
    case Opcode::kConstant:
      return Emit(id);
    case Opcode::kParameter:
      return EmitParameter(node.immediate);
    case Opcode::kAxis:
      return c_.ToLong(bound_.at(id), /*is_signed=*/true);
    case Opcode::kAccumulator:
    case Opcode::kElement:
      if (error_.ok())
        error_ = InternalError("expected loads, found a value of a fold body");
      return arithmetic_.conversions().Constant(node.type, 0);
    case Opcode::kLoad:
      return EmitLoad(node);
    case Opcode::kPad:
      return EmitPad(node);
    case Opcode::kSelect: {
      const Value condition = Emit(node.operands[0]);
      const Value a = Emit(node.operands[1]);
      return c_.Select(condition, a, Emit(node.operands[2]));
    }
    case Opcode::kCast: {
      const NodeId operand = node.operands[0];
      const DType from = nest_.pool[operand].type;
      // A cast to an integer of at most 32 bits wraps, so it needs only the
      // lower 32 bits of its operand.
      if (from == DType::kI64 &&
          (Fits(operand) ||
           (IsInteger(node.type) && DTypeByteSize(node.type) <= 4))) {
        return arithmetic_.conversions().Cast(
            DType::kI32, node.type, loops::IsRaw(node), EmitIndex(operand));
      }
      return arithmetic_.conversions().Cast(from, node.type, loops::IsRaw(node),
                                            Emit(operand));
    }
    case Opcode::kBitcast:
      return arithmetic_.conversions().Bitcast(node.type,
                                               Emit(node.operands[0]));
#define EMBER_ROW(name, ...) case Opcode::k##name:
      EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
      EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
      EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
      EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
      return EmitArithmetic(node);
  }
  return {};
}

Value ExpressionEmitter::EmitLowNode(NodeId id, const Node& node) {
  switch (node.opcode) {
    case Opcode::kParameter:
      return PushedWord(static_cast<uint32_t>(2 * node.immediate));
    case Opcode::kAxis:
      return c_.ToWord(bound_.at(id));
    case Opcode::kSelect: {
      const Value condition = Emit(node.operands[0]);
      const Value a = EmitIndex(node.operands[1]);
      return c_.Select(condition, a, EmitIndex(node.operands[2]));
    }
    case Opcode::kCast:
      return EmitLowCast(id, node);
    // For these instructions the lower 32 bits of the result depend only on the
    // lower 32 bits of the operands.
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot: {
      const Value a = EmitIndex(node.operands[0]);
      return Apply(node, DType::kI32, a, EmitIndex(node.operands.back()));
    }
    default:
      break;
  }
  bool is_arithmetic = tensor::InfoOf(node.opcode).group !=
                       tensor::InstructionGroup::kStructural;
  // A shift can be done in 32 bits only if it is known to be by fewer than 32
  // bits.
  if (node.opcode == Opcode::kShiftLeft || node.opcode == Opcode::kShiftRight) {
    const auto bits = nest_.pool.IntegerConstant(node.operands[1]);
    is_arithmetic = bits && *bits >= 0 && *bits < 32;
  }
  if (is_arithmetic && std::all_of(node.operands.begin(), node.operands.end(),
                                   [&](NodeId o) { return Fits(o); })) {
    const Value a = EmitIndex(node.operands[0]);
    return Apply(node, DType::kI32, a, EmitIndex(node.operands.back()));
  }
  return c_.ToWord(EmitNode(id, node));
}

Value ExpressionEmitter::EmitLowCast(NodeId id, const Node& node) {
  const NodeId operand = node.operands[0];
  const DType from = nest_.pool[operand].type;
  if (from == DType::kI64) return EmitIndex(operand);
  if (from == DType::kBool)
    return c_.Select(Emit(operand), c_.Int(1), c_.Int(0));
  if (!IsFloat(from)) return c_.ToWord(Emit(operand));
  return c_.ToWord(EmitNode(id, node));
}

Value ExpressionEmitter::PushedWord(uint32_t number) {
  const CodeBuilder::At at(c_, 0);
  return c_.Load(Scalar::kI32,
                 c_.Pointer(spv::StorageClass::PushConstant,
                            c_.module().TypeOf(Scalar::kI32), words_,
                            {c_.Int(0), c_.Int(number)}),
                 0);
}

Value ExpressionEmitter::EmitParameter(uint64_t number) {
  const auto word = static_cast<uint32_t>(2 * number);
  const Value low = PushedWord(word);
  const Value high = PushedWord(word + 1);
  const CodeBuilder::At at(c_, 0);
  const Value shifted =
      c_.ShiftLeft(c_.ToLong(high, false), c_.Constant(Scalar::kI64, 32));
  return c_.BitOr(c_.ToLong(low, false), shifted);
}

Value ExpressionEmitter::EmitArithmetic(const Node& node) {
  const NodeId a = node.operands[0];
  const NodeId b = node.operands.back();
  const DType type = nest_.pool[a].type;
  const bool is_comparison = node.type == DType::kBool;
  if (type == DType::kI64 && is_comparison && Fits(a) && Fits(b)) {
    const Value left = EmitIndex(a);
    return Apply(node, DType::kI32, left, EmitIndex(b));
  }
  const Value left = Emit(a);
  return Apply(node, type, left, Emit(b));
}

Value ExpressionEmitter::Apply(const Node& node, DType type, Value a, Value b) {
  const bool is_comparison = node.type == DType::kBool;
  const auto x = c_.KnownInteger(a), y = c_.KnownInteger(b);
  if (x && y && !IsFloat(type)) {
    const DType result = is_comparison ? DType::kBool : type;
    return arithmetic_.conversions().Constant(
        result, tensor::EvaluateScalar(node.opcode, type, result,
                                       {tensor::IntegerToBits(*x, type),
                                        tensor::IntegerToBits(*y, type), 0}));
  }
  return arithmetic_.Emit({.opcode = node.opcode,
                           .is_raw = loops::IsRaw(node),
                           .type = type,
                           .a = a,
                           .b = b});
}

// --- memory

Value ExpressionEmitter::EmitLoad(const Node& node) {
  const uint32_t width = loops::VectorOf(node);
  if (!mask_ && width != 0) {
    return memory_.LoadFrom(node.buffer,
                            InVector(node.buffer, node.operands, width));
  }
  const Value element = Element(node.buffer, node.operands);
  const bool is_guarded = mask_ && workgroup_.storage[node.buffer].kind !=
                                       loops::StorageKind::kRegisters;
  return is_guarded ? memory_.LoadIf(*mask_, node.buffer, element)
                    : memory_.Load(node.buffer, element);
}

Value ExpressionEmitter::EmitPad(const Node& node) {
  const std::span<const NodeId> indices(node.operands.data(),
                                        node.operands.size() - 1);
  const std::vector<NodeId> extents = nest_.buffers[node.buffer].extents;
  Value inside = c_.Bool(true);
  for (size_t dim = 0; dim < indices.size(); ++dim)
    inside = c_.And(
        inside, InBounds(indices[dim], extents[dim], loops::TestOf(node, dim)));
  const Value otherwise = Emit(node.operands.back());
  if (c_.IsKnown(inside, 0)) return otherwise;
  const uint32_t width = loops::VectorOf(node);
  if (!mask_ && width != 0) {
    const Memory::VectorElement element = InVector(node.buffer, indices, width);
    return c_.Select(inside, memory_.LoadFromIf(inside, node.buffer, element),
                     otherwise);
  }
  const Value element = Element(node.buffer, indices);
  const Value runs = mask_ ? c_.And(inside, *mask_) : inside;
  return c_.Select(inside, memory_.LoadIf(runs, node.buffer, element),
                   otherwise);
}

Value ExpressionEmitter::InBounds(NodeId index, NodeId extent,
                                  BoundsTest test) {
  if (test == BoundsTest::kNone) return c_.Bool(true);
  const bool is_short = Fits(index) && Fits(extent);
  const Value i = is_short ? EmitIndex(index) : Emit(index);
  const Value n = is_short ? EmitIndex(extent) : Emit(extent);
  const int depth = std::max(depths_.DepthOf(index), depths_.DepthOf(extent));
  const CodeBuilder::At at(c_, depth);
  if (test != BoundsTest::kBoth)
    return c_.Less(i, n, test == BoundsTest::kUpper);
  return c_.And(c_.LessEqual(c_.Like(i, 0), i, true), c_.Less(i, n, true));
}

LinearSum ExpressionEmitter::SumOf(uint32_t number,
                                   std::span<const NodeId> indices) {
  const std::vector<NodeId> extents = nest_.buffers[number].extents;
  const size_t first = workgroup_.storage[number].of_invocation ? 1 : 0;
  return gpu::ElementSum(nest_.pool, std::span(extents).subspan(first),
                         indices.subspan(first));
}

Memory::VectorElement ExpressionEmitter::InVector(
    uint32_t buffer, std::span<const NodeId> indices, uint32_t width,
    uint32_t unit) {
  LinearSum sum;
  const LinearSum element = SumOf(buffer, indices);
  sum.constant = element.constant;
  bool divides = true;
  for (LinearTerm term : element.terms) {
    const std::optional<int64_t> value = ValueOf(term.node);
    if (value) {
      sum.constant =
          static_cast<int64_t>(static_cast<uint64_t>(sum.constant) +
                               static_cast<uint64_t>(*value) *
                                   static_cast<uint64_t>(term.coefficient));
      continue;
    }
    term.coefficient /= unit;
    divides &= term.coefficient % width == 0;
    sum.terms.push_back(term);
  }
  sum.constant /= unit;
  const uint32_t lane = static_cast<uint32_t>(sum.constant) & (width - 1);
  sum.constant -= lane;
  if (divides) {
    for (LinearTerm& term : sum.terms) term.coefficient /= width;
    sum.constant /= width;
  }
  const int shift = divides ? 0 : std::countr_zero(width);
  return {.width = width,
          .number = c_.ShiftRight(EmitSum(sum), c_.Int(shift)),
          .lane = lane};
}

std::optional<int64_t> ExpressionEmitter::ValueOf(NodeId variable) const {
  const auto bound = bound_.find(variable);
  if (bound == bound_.end()) return std::nullopt;
  return c_.KnownInteger(bound->second);
}

Value ExpressionEmitter::EmitBytes(const Node& load) {
  constexpr uint32_t kBytes = 4;
  return memory_.LoadBytes(load.buffer,
                           InVector(load.buffer, load.operands,
                                    loops::VectorOf(load) / kBytes, kBytes));
}

Value ExpressionEmitter::EmitSum(const LinearSum& linear) {
  struct Term {
    int depth;
    LinearTerm term;
  };
  std::vector<Term> terms;
  for (const LinearTerm& term : linear.terms)
    terms.push_back({depths_.DepthOf(term.node), term});
  // Terms of outer scopes are added first, so that their sums stay in those
  // scopes.
  std::stable_sort(
      terms.begin(), terms.end(),
      [](const Term& a, const Term& b) { return a.depth < b.depth; });
  uint64_t constant = static_cast<uint64_t>(linear.constant);
  Value sum = c_.Int(0);
  int depth = 0;
  for (const auto& [at_least, term] : terms) {
    const CodeBuilder::At at(c_, at_least);
    const Value value =
        c_.Multiply(EmitIndex(term.node), c_.Int(term.coefficient));
    if (const auto known = c_.Known(value)) {
      constant += *known;
      continue;
    }
    depth = at_least;
    sum = c_.Add(sum, value);
  }
  const CodeBuilder::At at(c_, depth);
  return c_.Add(sum, c_.Constant(Scalar::kI32, constant));
}

}  // namespace ember::jit::spirv
