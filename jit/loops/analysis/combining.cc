#include "jit/loops/analysis/combining.h"

#include <algorithm>

#include "jit/loops/walk.h"

namespace ember::loops {

using tensor::Opcode;

bool IsOfAllInvocations(const tensor::ExpressionPool& pool, const Store& store,
                        NodeId variable) {
  const std::vector<NodeId> nodes = NodesUnder(pool, store.indices);
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
  return std::ranges::all_of(statement.body[0].stores, [&](const Store& store) {
    return store.update != tensor::Update::kAssign &&
           IsOfAllInvocations(pool, store, statement.variable);
  });
}

}  // namespace ember::loops
