#include "jit/llvm/emit/expression_emitter.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/concat.h"
#include "jit/llvm/emit/target_operations.h"
#include "jit/loops/raw.h"
#include "llvm/IR/Constants.h"
#include "tensor/builder/coefficient.h"
#include "tensor/update.h"

namespace ember::jit::llvm_ir {

using llvm::Value;
using tensor::Node;
using tensor::Opcode;

ExpressionEmitter::ExpressionEmitter(const loops::LoopNest& nest,
                                     bool is_prologue,
                                     KernelArguments& arguments,
                                     llvm::Function& function,
                                     TargetTraits target, Builder& builder,
                                     FirstError& error)
    : nest_(nest),
      operations_(OperationsOf(target)),
      b_(builder),
      error_(error),
      scopes_(nest.pool, builder),
      linearizer_(nest.pool, scopes_, builder,
                  [this](NodeId id) { return Emit(id); }),
      memory_(nest, is_prologue, arguments, target, function, scopes_, builder,
              linearizer_),
      lane_masks_(nest.pool, scopes_, builder, linearizer_,
                  [this](NodeId id) { return Emit(id); }),
      arithmetic_(builder, target, error) {}

Value* ExpressionEmitter::Emit(NodeId id) {
  const Node& node = nest_.pool[id];
  if (node.opcode == Opcode::kAxis) return scopes_.ValueOf(id);
  if (node.opcode == Opcode::kConstant) return EmitConstant(node);
  if (scopes_.HasLoad(id)) {
    if (const auto found = statement_.find(id); found != statement_.end())
      return found->second;
    return statement_[id] = EmitNode(id, node);
  }
  if (Value* known = scopes_.Known(id)) return known;
  const Scopes::At at(scopes_, scopes_.DepthOf(id));
  Value* value = EmitNode(id, node);
  scopes_.Remember(id, value);
  return value;
}

Value* ExpressionEmitter::EmitNode(NodeId id, const Node& node) {
  ++emitted_;
  switch (node.opcode) {
    case Opcode::kConstant:
      return EmitConstant(node);
    case Opcode::kParameter:
      return memory_.Parameter(node.immediate);
    case Opcode::kAxis:
      return scopes_.ValueOf(id);
    case Opcode::kAccumulator:
    case Opcode::kElement:
      error_.Set(InternalError(
          Concat({"loops @", nest_.name, ": expected loads, found a value of ",
                  "a fold body"})));
      return llvm::PoisonValue::get(RegisterType(b_.getContext(), node.type));
    case Opcode::kLoad:
      return EmitLoad(node);
    case Opcode::kPad:
      return EmitPad(node);
    case Opcode::kSelect:
      return EmitSelect(node);
    case Opcode::kCast:
    case Opcode::kBitcast:
      return EmitInstruction(nest_.pool, node, {Emit(node.operands[0])});
#define EMBER_ROW(name, ...) case Opcode::k##name:
      EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
      EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
      EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
      EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
      return EmitArithmetic(node);
  }
  return nullptr;
}

Value* ExpressionEmitter::EmitFrom(std::span<const LeafValue> leaves,
                                   NodeId id) {
  const auto found = std::ranges::find(leaves, id, &LeafValue::leaf);
  if (found != leaves.end()) return found->lanes;
  const bool is_uniform = std::ranges::none_of(leaves, [&](LeafValue leaf) {
    return tensor::DependsOn(nest_.pool, id, leaf.leaf);
  });
  if (is_uniform) return Emit(id);
  const Node& node = nest_.pool[id];
  llvm::SmallVector<Value*, 3> operands;
  for (NodeId operand : node.operands)
    operands.push_back(EmitFrom(leaves, operand));
  ++emitted_;
  return EmitInstruction(nest_.pool, node, std::move(operands));
}

Value* ExpressionEmitter::EmitConstant(const Node& node) {
  llvm::Type* type = RegisterType(b_.getContext(), node.type);
  const unsigned bits = 8 * static_cast<unsigned>(DTypeByteSize(node.type));
  if (node.type == DType::kBool)
    return b_.getInt1((node.immediate & 0xff) != 0);
  // The pool may hold the bits of a negative constant with or without sign
  // extension, so only the bits of the type are used.
  const llvm::APInt value = llvm::APInt(64, node.immediate).zextOrTrunc(bits);
  if (!type->isFloatingPointTy()) return b_.getInt(value);
  return llvm::ConstantFP::get(type,
                               llvm::APFloat(type->getFltSemantics(), value));
}

Value* ExpressionEmitter::EmitArithmetic(const Node& node) {
  const tensor::ExpressionPool& pool = nest_.pool;
  const NodeId a = node.operands[0];
  const NodeId b = node.operands.back();
  const bool is_order =
      node.opcode == Opcode::kLess || node.opcode == Opcode::kLessEqual;
  if (is_order && pool[a].type == DType::kI64 &&
      scopes_.VariesByLane(a) != scopes_.VariesByLane(b)) {
    Value* range = lane_masks_.Compare(a, b, node.opcode == Opcode::kLessEqual);
    if (range != nullptr) return range;
  }
  Value* const first = Emit(a);
  return EmitInstruction(pool, node, {first, Emit(b)});
}

Value* ExpressionEmitter::EmitInstruction(
    const tensor::ExpressionPool& pool, const Node& node,
    llvm::SmallVector<Value*, 3> operands) {
  int lanes = 0;
  for (const Value* operand : operands) {
    if (const auto* type =
            llvm::dyn_cast<llvm::FixedVectorType>(operand->getType()))
      lanes = static_cast<int>(type->getNumElements());
  }
  if (lanes != 0) {
    for (Value*& operand : operands) operand = Splat(b_, operand, lanes);
  }
  const DType type = pool[node.operands[0]].type;
  switch (node.opcode) {
    case Opcode::kSelect:
      return b_.CreateSelect(operands[0], operands[1], operands[2]);
    case Opcode::kCast:
      return arithmetic_.conversions().Cast(type, node.type, operands[0]);
    case Opcode::kBitcast:
      return arithmetic_.conversions().Bitcast(node.type, operands[0]);
    default:
      break;
  }
  return arithmetic_.Emit({.opcode = node.opcode,
                           .is_raw = loops::IsRaw(node),
                           .type = type,
                           .a = operands.front(),
                           .b = operands.back(),
                           .range_a = pool[node.operands.front()].range,
                           .range_b = pool[node.operands.back()].range});
}

Value* ExpressionEmitter::EmitUpdate(tensor::Update update, DType type,
                                     Value* a, Value* b) {
  const auto key = std::pair(update, type);
  auto known = formulas_.find(key);
  if (known == formulas_.end()) {
    known = formulas_
                .emplace(key, legalise::MakeFormula(tensor::OpcodeOf(update),
                                                    type, operations_))
                .first;
  }
  const legalise::Formula& formula = known->second;
  llvm::SmallDenseMap<NodeId, Value*> values;
  values[formula.a] = a;
  values[formula.b] = b;
  for (NodeId id : formula.order) {
    const Node& node = formula.pool[id];
    llvm::SmallVector<Value*, 3> operands;
    for (NodeId operand : node.operands) operands.push_back(values[operand]);
    values[id] = node.opcode == Opcode::kConstant
                     ? EmitConstant(node)
                     : EmitInstruction(formula.pool, node, operands);
  }
  return values[formula.result];
}

Value* ExpressionEmitter::EmitSelect(const Node& node) {
  Value* condition = Emit(node.operands[0]);
  // If the condition is a constant, as in unrolled loops, only the chosen
  // operand is emitted, because the other one may be large.
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition))
    return Emit(node.operands[known->isOne() ? 1 : 2]);
  Value* const a = Emit(node.operands[1]);
  Value* const b = Emit(node.operands[2]);
  // If a scalar condition chooses between a vector and a scalar, the scalar is
  // broadcast to a vector first.
  if (!IsVector(condition) && (IsVector(a) || IsVector(b))) {
    return b_.CreateSelect(condition, Splat(b_, a, scopes_.lanes()),
                           Splat(b_, b, scopes_.lanes()));
  }
  return EmitInstruction(nest_.pool, node, {condition, a, b});
}

Value* ExpressionEmitter::EmitLoad(const Node& node) {
  return memory_.Load(memory_.AddressOf(node.buffer, node.operands), mask_,
                      nullptr);
}

Value* ExpressionEmitter::EmitInBounds(NodeId index, NodeId extent) {
  LaneSet set;
  lane_masks_.AddInBounds(index, extent, set);
  if (set.IsAll()) return b_.getTrue();
  return set.IsUniform() ? set.uniform : lane_masks_.MaskOf(set);
}

std::optional<ExpressionEmitter::Run> ExpressionEmitter::RunOf(NodeId value) {
  const Node node = nest_.pool[value];
  const bool is_pad = node.opcode == Opcode::kPad;
  if ((!is_pad && node.opcode != Opcode::kLoad) || mask_ != nullptr ||
      memory_.IsRegister(node.buffer)) {
    return std::nullopt;
  }
  std::span<const NodeId> indices = node.operands;
  Run run{.begin = nullptr, .in_bounds = b_.getTrue()};
  if (is_pad) {
    const Node& other = nest_.pool[indices.back()];
    if (other.opcode != Opcode::kConstant || other.immediate != 0)
      return std::nullopt;
    indices = indices.first(indices.size() - 1);
    LaneSet inside;
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      lane_masks_.AddInBounds(indices[dim],
                              nest_.buffers[node.buffer].extents[dim], inside);
    }
    if (!inside.IsUniform() && !inside.IsAll()) return std::nullopt;
    if (!inside.IsAll()) run.in_bounds = inside.uniform;
  }
  const Address address = memory_.AddressOf(node.buffer, indices);
  if (address.kind != (scopes_.lanes() == 0 ? Address::Kind::kUniform
                                            : Address::Kind::kContiguous)) {
    return std::nullopt;
  }
  run.begin = address.pointer;
  return run;
}

Value* ExpressionEmitter::EmitPad(const Node& node) {
  const std::span<const NodeId> indices(node.operands.data(),
                                        node.operands.size() - 1);
  const loops::Buffer& buffer = nest_.buffers[node.buffer];
  LaneSet inside;
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    lane_masks_.AddInBounds(indices[dim], buffer.extents[dim], inside);
  }
  const Address address = memory_.AddressOf(node.buffer, indices);
  Value* otherwise = Emit(node.operands.back());
  if (inside.IsAll() && !IsVector(otherwise))
    return memory_.Load(address, mask_, nullptr);
  const bool is_uniform = address.kind == Address::Kind::kUniform;
  const bool is_vector = address.kind == Address::Kind::kContiguous &&
                         !memory_.IsRegister(node.buffer) &&
                         (mask_ == nullptr || address.is_whole);
  if ((is_uniform || is_vector) && inside.IsUniform()) {
    Value* in_bounds = inside.IsAll() ? b_.getTrue() : inside.uniform;
    return memory_.LoadIf(address, in_bounds, otherwise);
  }
  otherwise = Splat(b_, otherwise, scopes_.lanes());
  Value* mask = inside.IsAll() ? Splat(b_, b_.getTrue(), scopes_.lanes())
                               : lane_masks_.MaskOf(inside);
  if (mask_ != nullptr) mask = b_.CreateAnd(mask, mask_);
  if (is_uniform) {
    llvm::Type* type = RegisterType(b_.getContext(), node.type);
    Value* element = memory_.LoadIf(address, b_.CreateOrReduce(mask),
                                    llvm::Constant::getNullValue(type));
    return b_.CreateSelect(mask, Splat(b_, element, scopes_.lanes()),
                           otherwise);
  }
  return memory_.Load(address, mask, otherwise);
}

}  // namespace ember::jit::llvm_ir
