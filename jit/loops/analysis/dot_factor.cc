#include "jit/loops/analysis/dot_factor.h"

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

// Walks from a value to the only load of its tree, and adds the leaves beside
// the path. Returns nullopt if the value is no such tree.
std::optional<NodeId> LoadOfTree(const tensor::ExpressionPool& pool,
                                 NodeId value, std::vector<NodeId>& leaves) {
  while (pool[value].opcode != Opcode::kLoad) {
    const Node& node = pool[value];
    if (!IsByteOperation(node.opcode)) return std::nullopt;
    const NodeId a = node.operands[0], b = node.operands[1];
    const bool is_first = HasLoad(pool, a);
    const NodeId leaf = is_first ? b : a;
    if (HasLoad(pool, leaf)) return std::nullopt;
    leaves.push_back(leaf);
    value = is_first ? a : b;
  }
  return value;
}

}  // namespace

std::optional<DotFactor> DotFactorOf(const tensor::ExpressionPool& pool,
                                     NodeId widened,
                                     std::optional<NodeId> variable) {
  if (pool[widened].opcode != Opcode::kCast) return std::nullopt;
  const NodeId value = pool[widened].operands[0];
  const Opcode opcode = pool[value].opcode;
  if (opcode == Opcode::kLoad || opcode == Opcode::kPad)
    return DotFactor{.load = value, .value = value};
  if (!IsByte(pool[value].type)) return std::nullopt;
  std::vector<NodeId> leaves;
  const std::optional<NodeId> load = LoadOfTree(pool, value, leaves);
  if (!load) return std::nullopt;
  for (NodeId leaf : leaves) {
    if (variable && tensor::DependsOn(pool, leaf, *variable))
      return std::nullopt;
  }
  return DotFactor{.load = *load, .value = value};
}

std::vector<NodeId> LeavesOf(const tensor::ExpressionPool& pool,
                             const DotFactor& factor) {
  std::vector<NodeId> leaves;
  if (factor.is_unpacked()) LoadOfTree(pool, factor.value, leaves);
  return leaves;
}

}  // namespace ember::loops
