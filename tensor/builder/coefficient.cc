#include "tensor/builder/coefficient.h"

#include <set>
#include <vector>

#include "tensor/builder/linear.h"

namespace ember::tensor {

bool DependsOn(const ExpressionPool& pool, NodeId value, NodeId node) {
  std::vector<NodeId> stack = {value};
  std::set<NodeId> seen;
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (id == node) return true;
    if (!seen.insert(id).second) continue;
    if (pool[id].opcode == Opcode::kAxis) continue;
    stack.insert(stack.end(), pool[id].operands.begin(),
                 pool[id].operands.end());
  }
  return false;
}

std::optional<int64_t> CoefficientOf(const ExpressionPool& pool, NodeId value,
                                     NodeId variable) {
  if (!DependsOn(pool, value, variable)) return 0;
  const std::optional<LinearSum> sum = Linearize(pool, value);
  if (!sum) return std::nullopt;
  std::optional<int64_t> result;
  for (const LinearTerm& term : sum->terms) {
    if (term.node == variable)
      result = term.coefficient;
    else if (DependsOn(pool, term.node, variable))
      return std::nullopt;
  }
  return result;
}

}  // namespace ember::tensor
