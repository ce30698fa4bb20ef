#include "jit/loops/analysis/dot_factor.h"

#include <algorithm>
#include <set>

#include "tensor/builder/coefficient.h"

namespace ember::loops {
namespace {

using tensor::Node;
using tensor::Opcode;

bool IsByte(DType type) { return type == DType::kI8 || type == DType::kU8; }

bool IsByteOperation(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRight:
    case Opcode::kAdd:
    case Opcode::kSubtract:
      return true;
    default:
      return false;
  }
}

bool HasLoad(const tensor::ExpressionPool& pool, NodeId value) {
  std::vector<NodeId> stack = {value};
  std::set<NodeId> seen;
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    const Node& node = pool[id];
    if (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad)
      return true;
    if (node.opcode == Opcode::kAxis || !seen.insert(id).second) continue;
    stack.insert(stack.end(), node.operands.begin(), node.operands.end());
  }
  return false;
}

// The leaves of an expression tree of byte operations, whose root is an
// unpacked factor.
struct Leaves {
  std::vector<NodeId> loads;
  std::vector<NodeId> others;
};

// Adds the leaves of the value's expression tree. Returns false if the tree
// contains an operation on loaded values that is no byte operation.
bool AddLeaves(const tensor::ExpressionPool& pool, NodeId value,
               Leaves& leaves) {
  const Node& node = pool[value];
  if (node.opcode == Opcode::kLoad) {
    if (std::ranges::find(leaves.loads, value) == leaves.loads.end())
      leaves.loads.push_back(value);
    return true;
  }
  if (!HasLoad(pool, value)) {
    leaves.others.push_back(value);
    return true;
  }
  return IsByteOperation(node.opcode) &&
         AddLeaves(pool, node.operands[0], leaves) &&
         AddLeaves(pool, node.operands[1], leaves);
}

}  // namespace

std::optional<DotFactor> DotFactorOf(const tensor::ExpressionPool& pool,
                                     NodeId widened,
                                     std::optional<NodeId> variable) {
  if (pool[widened].opcode != Opcode::kCast) return std::nullopt;
  const NodeId value = pool[widened].operands[0];
  const Opcode opcode = pool[value].opcode;
  if (opcode == Opcode::kLoad || opcode == Opcode::kPad)
    return DotFactor{.load = value, .value = value, .more_loads = {}};
  if (!IsByte(pool[value].type)) return std::nullopt;
  Leaves leaves;
  if (!AddLeaves(pool, value, leaves) || leaves.loads.empty())
    return std::nullopt;
  for (NodeId leaf : leaves.others) {
    if (variable && tensor::DependsOn(pool, leaf, *variable))
      return std::nullopt;
  }
  DotFactor factor{.load = leaves.loads[0], .value = value, .more_loads = {}};
  factor.more_loads.assign(leaves.loads.begin() + 1, leaves.loads.end());
  return factor;
}

std::vector<NodeId> LoadsOf(const DotFactor& factor) {
  std::vector<NodeId> loads = {factor.load};
  loads.insert(loads.end(), factor.more_loads.begin(), factor.more_loads.end());
  return loads;
}

std::vector<NodeId> LeavesOf(const tensor::ExpressionPool& pool,
                             const DotFactor& factor) {
  Leaves leaves;
  if (factor.is_unpacked()) AddLeaves(pool, factor.value, leaves);
  return leaves.others;
}

}  // namespace ember::loops
