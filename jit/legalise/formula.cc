#include "jit/legalise/formula.h"

#include <algorithm>
#include <vector>

#include "jit/legalise/rules.h"
#include "jit/loops/walk.h"

namespace ember::jit::legalise {

Formula MakeFormula(Opcode opcode, DType type,
                    const TargetOperations& operations) {
  Formula formula;
  tensor::ExpressionPool& pool = formula.pool;
  // The operands get a scope above 0, because nodes of scope 0 count as
  // constants.
  constexpr int kScope = 1;
  formula.a = pool.Intern(Opcode::kElement, type, {}, 0, kScope);
  formula.b = pool.Intern(Opcode::kElement, type, {}, 1, kScope);
  Legaliser legaliser(
      AllRules(), operations, [&pool](NodeId id) { return pool[id].range; },
      pool);
  const bool is_extreme =
      opcode == Opcode::kMinimum || opcode == Opcode::kMaximum;
  const std::vector<NodeId> operands = {formula.a, formula.b};
  formula.result = is_extreme && type == DType::kF32 && operations.nan_extremes
                       ? pool.Intern(opcode, type, operands)
                       : legaliser.Make({opcode, type, operands});
  for (NodeId id : loops::NodesUnder(pool, {&formula.result, 1})) {
    if (id != formula.a && id != formula.b) formula.order.push_back(id);
  }
  // Sorts the nodes by number, which is the order in which rules made them;
  // computing them in that order gives the best code.
  std::ranges::sort(formula.order);
  return formula;
}

}  // namespace ember::jit::legalise
