#include "tensor/builder/expression_pool.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "tensor/range_rules.h"
#include "tensor/scalar.h"

namespace ember::tensor {
namespace {

uint64_t HashOf(const Node& node) {
  uint64_t hash = HashCombine(static_cast<uint64_t>(node.opcode),
                              static_cast<uint64_t>(node.type));
  hash = HashCombine(hash, static_cast<uint64_t>(node.scope));
  hash = HashCombine(hash, node.buffer);
  hash = HashCombine(hash, node.immediate);
  for (NodeId operand : node.operands) hash = HashCombine(hash, operand);
  return hash;
}

}  // namespace

NodeId ExpressionPool::Constant(uint64_t bits, DType type) {
  return Intern(Opcode::kConstant, type, {}, bits);
}

NodeId ExpressionPool::Intern(Opcode opcode, DType type,
                              std::span<const NodeId> operands,
                              uint64_t immediate, int scope, uint32_t buffer) {
  Node node;
  node.opcode = opcode;
  node.type = type;
  node.scope = scope;
  node.buffer = buffer;
  node.immediate = immediate;
  node.operands.assign(operands.begin(), operands.end());
  for (NodeId operand : operands) {
    const int other = nodes_[operand].scope;
    EMBER_CHECK(other == 0 || node.scope == 0 || other == node.scope)
        << "a value of stage " << other - 1 << " is used in stage "
        << node.scope - 1;
    node.scope = std::max(node.scope, other);
  }
  const uint64_t hash = HashOf(node);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (Matches(it->second, node)) return it->second;
  }
  node.range = RangeOf(node);
  DescribeStructure(node);
  const NodeId id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back(std::move(node));
  by_hash_.emplace(hash, id);
  return id;
}

void ExpressionPool::DescribeStructure(Node& node) const {
  node.structure = HashCombine(static_cast<uint64_t>(node.opcode),
                               static_cast<uint64_t>(node.type));
  node.structure = HashCombine(node.structure, node.buffer);
  node.structure = HashCombine(node.structure, node.immediate);
  if (node.opcode == Opcode::kAxis) {
    node.first_axis = node.immediate;
    // The operand of an axis is its extent, which is no part of the axis's
    // structure, so operands are skipped here.
    return;
  }
  for (NodeId operand : node.operands) {
    node.structure = HashCombine(node.structure, nodes_[operand].structure);
    node.first_axis = std::min(node.first_axis, nodes_[operand].first_axis);
  }
}

bool ExpressionPool::Precedes(NodeId a, NodeId b) const {
  const Node& x = nodes_[a];
  const Node& y = nodes_[b];
  if (x.first_axis != y.first_axis) return x.first_axis < y.first_axis;
  if (x.opcode != y.opcode) return x.opcode < y.opcode;
  return x.structure != y.structure ? x.structure < y.structure : a < b;
}

void ExpressionPool::Refine(NodeId id, Interval range) {
  Node& node = nodes_[id];
  if (node.opcode == Opcode::kConstant)
    // The range of a constant is its value. If the new fact contradicts it,
    // other code reports that.
    return;
  node.range = Intersect(node.range, range);
  // If k > 0 is a constant, a fact about the range of k * x also limits x: to 0
  // at least, and to the upper end divided by k at most.
  if (node.opcode != Opcode::kMultiply || !IsConstant(node.operands[1])) return;
  const int64_t factor = *IntegerConstant(node.operands[1]);
  if (factor > 0) Refine(node.operands[0], {0, range.high / factor});
}

bool ExpressionPool::Matches(NodeId id, const Node& node) const {
  const Node& other = nodes_[id];
  return other.opcode == node.opcode && other.type == node.type &&
         other.scope == node.scope && other.buffer == node.buffer &&
         other.immediate == node.immediate && other.operands == node.operands;
}

std::optional<int64_t> ExpressionPool::IntegerConstant(NodeId id) const {
  const Node& node = nodes_[id];
  if (node.opcode != Opcode::kConstant || IsFloat(node.type))
    return std::nullopt;
  return BitsToInteger(node.immediate, node.type);
}

Interval ExpressionPool::RangeOf(const Node& node) const {
  if (node.opcode == Opcode::kConstant)
    return RangeOfConstant(node.immediate, node.type);
  if (node.opcode == Opcode::kAxis) {
    const int64_t extent =
        std::min(nodes_[node.operands[0]].range.high, kMaxExtent);
    return {0, std::max<int64_t>(extent, 1) - 1};
  }
  if (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad)
    return RangeOfType(node.type);
  const auto range = [&](size_t i) {
    return i < node.operands.size() ? nodes_[node.operands[i]].range
                                    : Interval::Full();
  };
  const DType operand_type =
      node.operands.empty() ? node.type : nodes_[node.operands[0]].type;
  return RangeOfResult(node.opcode, operand_type, node.type, range(0), range(1),
                       range(2));
}

}  // namespace ember::tensor
