
#include "jit/schedule/core/loop_bounds.h"

#include <vector>

#include "tensor/builder/simplify.h"
#include "tensor/range_rules.h"

namespace ember::schedule {

using tensor::LinearSum;
using tensor::Opcode;

bool LoopBounds::Moves(NodeId root) const {
  std::vector<NodeId> stack = {root};
  std::set<NodeId> seen;
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (!seen.insert(id).second) continue;
    const tensor::Node& node = pool_[id];
    // A loop with one iteration has a constant node as its variable. Other
    // expressions may contain the same node, so it does not count as a variable
    // that changes.
    if (moving_.contains(id) && node.opcode != Opcode::kConstant) return true;
    if (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad)
      return true;
    if (node.opcode == Opcode::kAxis) continue;
    stack.insert(stack.end(), node.operands.begin(), node.operands.end());
  }
  return false;
}

std::optional<NodeId> LoopBounds::Bound(NodeId index, bool is_largest) {
  if (!Moves(index)) return index;
  const std::optional<LinearSum> sum = tensor::Linearize(pool_, index);
  // A sum without a known range might wrap, so it has no known bound.
  if (!sum || tensor::RangeOfLinear(pool_, *sum).IsFull()) return std::nullopt;
  LinearSum bound;
  bound.constant = sum->constant;
  for (const tensor::LinearTerm& term : sum->terms) {
    if (!Moves(term.node)) {
      tensor::AddLinear(bound, {{{term.node, 1}}, 0}, term.coefficient);
      continue;
    }
    const bool is_positive = term.coefficient > 0;
    const std::optional<NodeId> most =
        BoundOfTerm(term.node, is_largest == is_positive);
    if (!most) return std::nullopt;
    const std::optional<LinearSum> terms = tensor::Linearize(pool_, *most);
    if (!terms) return std::nullopt;
    tensor::AddLinear(bound, *terms, term.coefficient);
  }
  if (tensor::RangeOfLinear(pool_, bound).IsFull()) return std::nullopt;
  return tensor::BuildLinear(pool_, bound);
}

std::optional<NodeId> LoopBounds::BoundOfTerm(NodeId term, bool is_largest) {
  const tensor::Node node = pool_[term];
  if (moving_.contains(term)) {
    if (!is_largest) return pool_.Integer(0);
    const std::optional<NodeId> extent = Bound(node.operands[0], true);
    if (!extent) return std::nullopt;
    return Make(Opcode::kSubtract, *extent, pool_.Integer(1));
  }
  switch (node.opcode) {
    case Opcode::kMinimum:
    case Opcode::kMaximum: {
      const std::optional<NodeId> a = Bound(node.operands[0], is_largest);
      const std::optional<NodeId> b = Bound(node.operands[1], is_largest);
      if (a && b) return Make(node.opcode, *a, *b);
      break;
    }
    case Opcode::kFloorDivide: {
      const std::optional<int64_t> divisor =
          pool_.IntegerConstant(node.operands[1]);
      if (!divisor || *divisor < 1) break;
      const std::optional<NodeId> a = Bound(node.operands[0], is_largest);
      if (a) return Make(Opcode::kFloorDivide, *a, node.operands[1]);
      break;
    }
    default:
      break;
  }
  // The term has a known range, for example because it is a quotient or
  // remainder of a fused loop's variable.
  if (node.range.low < 0 || node.range.high > kLargestDigit)
    return std::nullopt;
  return pool_.Integer(is_largest ? node.range.high : node.range.low);
}

NodeId LoopBounds::Make(Opcode opcode, NodeId a, NodeId b) {
  const NodeId operands[] = {a, b};
  return tensor::Simplifier(pool_).Make(opcode, DType::kI64, operands);
}

void RefineParameters(std::span<const NodeId> extents,
                      tensor::ExpressionPool& pool) {
  for (const NodeId extent : extents) {
    const std::optional<LinearSum> sum = tensor::Linearize(pool, extent);
    if (!sum || sum->terms.size() != 1 || sum->terms[0].coefficient != 1 ||
        pool[sum->terms[0].node].opcode != Opcode::kParameter ||
        sum->constant < -tensor::kMaxExtent ||
        sum->constant > tensor::kMaxExtent) {
      continue;
    }
    pool.Refine(sum->terms[0].node,
                {-sum->constant, tensor::kMaxExtent - sum->constant});
  }
}

}  // namespace ember::schedule
