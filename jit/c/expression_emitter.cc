#include "jit/c/expression_emitter.h"

#include <algorithm>

#include "base/check.h"
#include "jit/c/element_number.h"
#include "jit/c/types.h"
#include "jit/loops/walk.h"
#include "tensor/builder/linear.h"

namespace ember::jit::c {

using tensor::Interval;
using tensor::Node;
using tensor::Opcode;

// --- blocks

void ExpressionEmitter::Push(bool is_branch, std::string heading) {
  c_.Enter(std::move(heading));
  scopes_.push_back({.is_branch = is_branch, .values = {}});
}

void ExpressionEmitter::EnterFunction(const std::string& name) {
  depths_.EnterEntry();
  Push(false, Arguments::Heading(name));
}

void ExpressionEmitter::EnterLoop(NodeId variable, const std::string& begin,
                                  const std::string& end) {
  depths_.EnterLoop(variable);
  const std::string name = arguments_.Variable(variable);
  // The loop variable must be able to hold the number after its last value, at
  // which the loop ends.
  const bool is_short = facts_.RangeOf(variable).high < INT32_MAX;
  const char* const type = is_short ? "int32_t" : "int64_t";
  Push(false, Concat({"for (", type, " ", name, " = ", begin, "; ", name, " < ",
                      end, "; ++", name, ")"}));
}

void ExpressionEmitter::EnterBranch(const std::string& condition) {
  depths_.EnterBranch();
  Push(true, Concat({"if (", condition, ")"}));
}

void ExpressionEmitter::Leave() {
  depths_.Leave();
  c_.Leave();
  scopes_.pop_back();
}

void ExpressionEmitter::EnterLanes() {
  EMBER_CHECK(!lane_loop_) << "a loop over lanes in another";
  lane_loop_ = c_.depth();
  loaded_in_lane_.clear();
  EnterLoop(lanes_->variable, "0", std::to_string(lanes_->extent));
  if (!lanes_->mask.empty())
    EnterBranch(Concat({lanes_->mask, "[", Lane(), "]"}));
}

void ExpressionEmitter::LeaveLanes() {
  if (!lanes_->mask.empty()) Leave();
  Leave();
  lane_loop_.reset();
}

// --- values

std::string ExpressionEmitter::Emit(NodeId id) {
  const Node& node = nest_.pool[id];
  switch (node.opcode) {
    case Opcode::kConstant:
      return LiteralOf(node.type, node.immediate);
    case Opcode::kParameter:
      return arguments_.Parameter(node.immediate);
    case Opcode::kAxis:
      return arguments_.Variable(id);
    case Opcode::kBitcast:
      // Element types that are held in one C type have the same bits in it, so
      // the bitcast does nothing.
      if (TypeOf(nest_.pool[node.operands[0]].type) == TypeOf(node.type))
        return Emit(node.operands[0]);
      break;
    default:
      break;
  }
  if (depths_.HasLoad(id)) return EmitLoaded(id, node);
  const int home = depths_.HomeOf(id);
  for (size_t i = static_cast<size_t>(home); i < scopes_.size(); ++i) {
    if (i != static_cast<size_t>(home) && !scopes_[i].is_branch) continue;
    const auto known = scopes_[i].values.find(id);
    if (known != scopes_[i].values.end()) return known->second;
  }
  const int depth = depths_.DepthOf(id);
  const std::string name = Declare(id, node, depth, Part::kBegin);
  scopes_[static_cast<size_t>(std::max(home, depth))].values[id] = name;
  return name;
}

// Returns the value of a node with loads. A value that is the same in all lanes
// is loaded before the loop over the lanes: at least one lane is active there.
std::string ExpressionEmitter::EmitLoaded(NodeId id, const Node& node) {
  const bool is_of_lane = lane_loop_ && VariesByLane(id);
  auto& loaded = is_of_lane ? loaded_in_lane_ : loaded_;
  if (const auto known = loaded.find(id); known != loaded.end())
    return known->second;
  const int depth = lane_loop_ && !is_of_lane ? *lane_loop_ : c_.depth();
  const std::string name = Declare(id, node, depth, Part::kEnd);
  loaded.emplace(id, name);
  return name;
}

std::string ExpressionEmitter::Declare(NodeId id, const Node& node, int depth,
                                       Part part) {
  const std::string value = EmitNode(id, node);
  return c_.Declare(depth, part, TypeOf(IsShort(id) ? DType::kI32 : node.type),
                    value);
}

std::string ExpressionEmitter::EmitNode(NodeId id, const Node& node) {
  switch (node.opcode) {
    case Opcode::kLoad:
      return Element(node.buffer, node.operands);
    case Opcode::kPad:
      return EmitPad(node);
    case Opcode::kConstant:  // Emit handles these
    case Opcode::kParameter:
    case Opcode::kAxis:
      break;
    case Opcode::kAccumulator:
    case Opcode::kElement:
      if (error_.ok())
        error_ = InternalError("expected loads, found a value of a fold body");
      break;
    case Opcode::kSelect:
    case Opcode::kCast:
    case Opcode::kBitcast:
#define EMBER_ROW(name, ...) case Opcode::k##name:
      EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
      EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
      EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
      EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
      return EmitArithmetic(id, node);
  }
  return "0";
}

std::string ExpressionEmitter::EmitArithmetic(NodeId id, const Node& node) {
  std::vector<std::string> operands;
  for (const NodeId operand : node.operands) operands.push_back(Emit(operand));
  const bool is_short = IsShortOperation(id, node);
  std::string value =
      arithmetic_.EmitNode(nest_.pool, node, operands, is_short);
  if (!IsShort(id) || is_short) return value;
  return Concat({"(int32_t)(", value, ")"});
}

bool ExpressionEmitter::IsShort(NodeId id) const {
  constexpr Interval kShort = {INT32_MIN, INT32_MAX};
  return nest_.pool[id].type == DType::kI64 &&
         facts_.RangeOf(id).Within(kShort);
}

bool ExpressionEmitter::IsShortOperation(NodeId id, const Node& node) const {
  // Shifts and bitcasts of i64 have another result when they are computed in 32
  // bits, so they are excluded.
  if (node.opcode == Opcode::kShiftLeft || node.opcode == Opcode::kShiftRight ||
      node.opcode == Opcode::kBitcast)
    return false;
  const auto is_long = [&](NodeId other) {
    return nest_.pool[other].type == DType::kI64 && !IsShort(other);
  };
  return !is_long(id) && std::ranges::none_of(node.operands, is_long);
}

std::string ExpressionEmitter::EmitPad(const Node& node) {
  const std::span<const NodeId> indices(node.operands.data(),
                                        node.operands.size() - 1);
  const std::vector<NodeId>& extents = nest_.buffers[node.buffer].extents;
  std::string inside;
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    if (IsProvedInBounds(indices[dim], extents[dim])) continue;
    const std::string index = Emit(indices[dim]);
    if (!inside.empty()) inside += " && ";
    inside += Concat({index, " >= 0 && ", index, " < ", Emit(extents[dim])});
  }
  const std::string element = Element(node.buffer, indices);
  if (inside.empty()) return element;
  return Concat({inside, " ? ", element, " : ", Emit(node.operands.back())});
}

bool ExpressionEmitter::IsProvedInBounds(NodeId index, NodeId extent) const {
  const Interval range = facts_.RangeOf(index);
  return range.low >= 0 && range.high < facts_.RangeOf(extent).low;
}

std::string ExpressionEmitter::Position(uint32_t buffer,
                                        std::span<const NodeId> indices) {
  ElementNumber number;
  const std::vector<NodeId>& extents = nest_.buffers[buffer].extents;
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    if (dim > 0) {
      const auto known = nest_.pool.IntegerConstant(extents[dim]);
      known ? number.MultiplyBy(*known)
            : number.MultiplyBy("(size_t)" + Emit(extents[dim]));
    }
    const auto sum = tensor::Linearize(nest_.pool, indices[dim], false);
    if (!sum) {
      number.Add("(size_t)" + Emit(indices[dim]), 1);
      continue;
    }
    for (const tensor::LinearTerm& term : sum->terms) {
      const bool is_variable = nest_.pool[term.node].opcode == Opcode::kAxis;
      number.Add("(size_t)" + (is_variable ? arguments_.Variable(term.node)
                                           : Emit(term.node)),
                 term.coefficient);
    }
    number.Add(sum->constant);
  }
  return number.Text();
}

}  // namespace ember::jit::c
