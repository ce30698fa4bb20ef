#include "jit/loops/analysis/buffer_uses.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "jit/loops/walk.h"

namespace ember::loops {
namespace {

using tensor::Node;
using tensor::Opcode;

template <typename Visitor>
void ForEachStore(const Block& block, int depth, Visitor&& visit) {
  if (depth > kMaxNesting) return;
  for (const Statement& statement : block) {
    if (statement.kind == Statement::Kind::kStore) {
      for (const Store& store : statement.stores) visit(store);
    }
    ForEachStore(statement.body, depth + 1, visit);
  }
}

// Calls `visit` for each load and store of the block, with its indices.
template <typename Visitor>
void ForEachAccess(const LoopNest& nest, const Block& block, int depth,
                   Visitor&& visit) {
  if (depth > kMaxNesting) return;
  for (const Statement& statement : block) {
    ForEachAccess(nest, statement.body, depth + 1, visit);
    if (statement.kind == Statement::Kind::kFor) continue;
    for (const Store& store : statement.stores)
      visit(store.buffer, std::span<const NodeId>(store.indices));
    for (NodeId id : NodesUnder(nest.pool, RootsOf(nest.pool, statement))) {
      const Node& node = nest.pool[id];
      if (IsAccess(node))
        visit(node.buffer, std::span<const NodeId>(node.operands));
    }
  }
}

void FindBuffersOfInvocations(const LoopNest& nest, const Block& block,
                              int depth, std::vector<bool>& found) {
  if (depth > kMaxNesting) return;
  for (const Statement& statement : block) {
    if (!IsInvocationLoop(statement)) {
      FindBuffersOfInvocations(nest, statement.body, depth + 1, found);
      continue;
    }
    ForEachAccess(nest, statement.body, depth + 1,
                  [&](uint32_t buffer, std::span<const NodeId> at) {
                    if (buffer < nest.buffers.size() &&
                        nest.buffers[buffer].scope == MemoryScope::kRegister &&
                        !at.empty() && at[0] == statement.variable) {
                      found[buffer] = true;
                    }
                  });
  }
}

}  // namespace

bool IsAccess(const Node& node) {
  return node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad;
}

std::vector<bool> StoredIn(const LoopNest& nest, const Block& block) {
  std::vector<bool> stored(nest.buffers.size(), false);
  ForEachStore(block, 0, [&](const Store& store) {
    if (store.buffer < stored.size()) stored[store.buffer] = true;
  });
  return stored;
}

std::vector<bool> SharedIn(const LoopNest& nest, NodeId variable,
                           const Block& body) {
  const std::vector<bool> stored = StoredIn(nest, body);
  std::vector<bool> shared(stored.size(), false);
  ForEachAccess(
      nest, body, 0, [&](uint32_t buffer, std::span<const NodeId> at) {
        if (buffer < shared.size() && (at.empty() || at[0] != variable))
          shared[buffer] = stored[buffer];
      });
  return shared;
}

std::vector<bool> BuffersOfInvocations(const LoopNest& nest) {
  std::vector<bool> found(nest.buffers.size(), false);
  for (const auto* phases : {&nest.prologue, &nest.phases}) {
    for (const Phase& phase : *phases)
      FindBuffersOfInvocations(nest, phase.body, 0, found);
  }
  return found;
}

}  // namespace ember::loops
