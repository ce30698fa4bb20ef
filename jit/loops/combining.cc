#include "jit/loops/combining.h"

#include <algorithm>

#include "jit/loops/walk.h"

namespace ember::loops {

using tensor::Opcode;

bool IsOfAllInvocations(const tensor::ExpressionPool& pool,
                        const Target& target, NodeId variable) {
  const std::vector<NodeId> nodes = NodesUnder(pool, target.indices);
  return std::ranges::none_of(nodes, [&](NodeId id) {
    const Opcode opcode = pool[id].opcode;
    return id == variable || opcode == Opcode::kLoad || opcode == Opcode::kPad;
  });
}

bool IsCombining(const tensor::ExpressionPool& pool,
                 const Statement& statement) {
  if (statement.kind != Statement::Kind::kFor ||
      statement.loop != LoopKind::kInvocation || statement.body.size() != 1 ||
      statement.body[0].kind != Statement::Kind::kStore) {
    return false;
  }
  return std::ranges::all_of(
      statement.body[0].targets, [&](const Target& target) {
        return target.update != tensor::Update::kAssign &&
               IsOfAllInvocations(pool, target, statement.variable);
      });
}

}  // namespace ember::loops
