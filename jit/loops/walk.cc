#include "jit/loops/walk.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace ember::loops {

using tensor::ExpressionPool;
using tensor::Opcode;

std::span<const NodeId> OperandsOf(const ExpressionPool& pool, NodeId node) {
  if (pool[node].opcode == Opcode::kAxis) return {};
  return pool[node].operands;
}

uint32_t VectorOf(const tensor::Node& node) {
  const bool is_access =
      node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad;
  return is_access ? static_cast<uint32_t>(node.immediate & 0xff) : 0;
}

BoundsTest TestOf(const tensor::Node& pad, size_t dim) {
  return static_cast<BoundsTest>(pad.immediate >> (8 + 2 * dim) & 3);
}

uint64_t MarksOf(uint32_t vector, std::span<const BoundsTest> tests) {
  uint64_t marks = vector;
  for (size_t dim = 0; dim < tests.size(); ++dim)
    marks |= static_cast<uint64_t>(tests[dim]) << (8 + 2 * dim);
  return marks;
}

bool IsWide(const LoopNest& nest, NodeId node) {
  return std::ranges::binary_search(nest.wide, node);
}

NodeId ExtentOf(const ExpressionPool& pool, NodeId variable) {
  return pool[variable].operands[0];
}

// The walk uses its own stack instead of recursion, because chains of nodes may
// be long.
std::vector<NodeId> NodesUnder(const ExpressionPool& pool,
                               std::span<const NodeId> roots) {
  std::vector<NodeId> order;
  std::unordered_set<NodeId> entered;
  std::vector<std::pair<NodeId, size_t>> stack;
  const auto enter = [&](NodeId node) {
    if (entered.insert(node).second) stack.push_back({node, 0});
  };
  for (NodeId root : roots) {
    enter(root);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      const std::span<const NodeId> operands = OperandsOf(pool, node);
      if (next < operands.size()) {
        enter(operands[next++]);
        continue;
      }
      order.push_back(node);
      stack.pop_back();
    }
  }
  return order;
}

std::vector<NodeId> RootsOf(const ExpressionPool& pool,
                            const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::kFor:
      return {ExtentOf(pool, statement.variable)};
    case Statement::Kind::kIf:
      return {statement.condition};
    case Statement::Kind::kCheck:
      return {statement.index, statement.extent};
    case Statement::Kind::kPrefetch:
      return {statement.index};
    case Statement::Kind::kSlot:
      return {statement.slot.slot};
    case Statement::Kind::kAwait:
    case Statement::Kind::kBarrier:
    case Statement::Kind::kFirst:
      return {};
    case Statement::Kind::kStore:
      break;
  }
  std::vector<NodeId> roots;
  for (const Store& store : statement.stores) {
    roots.insert(roots.end(), store.indices.begin(), store.indices.end());
    roots.push_back(store.value);
  }
  return roots;
}

bool IsInvocationLoop(const Statement& statement) {
  return statement.kind == Statement::Kind::kFor &&
         (statement.loop == LoopKind::kInvocation ||
          statement.loop == LoopKind::kSubgroup);
}

const Store* FirstStore(const Statement& statement) {
  if (!statement.stores.empty()) return statement.stores.data();
  for (const Statement& inner : statement.body) {
    if (const Store* const found = FirstStore(inner)) return found;
  }
  return nullptr;
}

bool HasProducer(const Statement& statement) {
  return statement.of_producer ||
         std::ranges::any_of(statement.body, HasProducer);
}

bool CombinesSubgroups(const Statement& statement) {
  return std::ranges::any_of(statement.stores, [](const Store& store) {
    return store.combining != Combining::kNone;
  });
}

bool AreMarkedAsShared(const LoopNest& nest, uint32_t a, uint32_t b) {
  const auto shares = [&](uint32_t output, uint32_t input) {
    const std::vector<uint32_t>& inputs = nest.buffers[output].shares;
    return std::ranges::find(inputs, input) != inputs.end();
  };
  return a == b || shares(a, b) || shares(b, a);
}

bool IsNeverWritten(const LoopNest& nest, uint32_t buffer) {
  return nest.buffers[buffer].scope == MemoryScope::kInput &&
         std::ranges::none_of(nest.buffers, [&](const Buffer& other) {
           return std::ranges::find(other.shares, buffer) != other.shares.end();
         });
}

tensor::Update UpdateOf(Combining combining) {
  switch (combining) {
    case Combining::kProduct:
      return tensor::Update::kMultiply;
    case Combining::kMinimum:
      return tensor::Update::kMinimum;
    case Combining::kMaximum:
      return tensor::Update::kMaximum;
    case Combining::kNone:
    case Combining::kSum:
      break;
  }
  return tensor::Update::kAdd;
}

size_t CountStatements(std::span<const Statement> block) {
  size_t count = 0;
  for (const Statement& statement : block) {
    if (statement.kind == Statement::Kind::kBarrier) continue;
    count += 1 + CountStatements(statement.body);
  }
  return count;
}

bool HasBarrier(const Block& block) {
  return std::ranges::any_of(block, [](const Statement& statement) {
    return statement.kind == Statement::Kind::kBarrier ||
           HasBarrier(statement.body);
  });
}

namespace {

template <typename Test>
bool AnyPhase(const LoopNest& nest, Test&& test) {
  return std::ranges::any_of(nest.prologue, test) ||
         std::ranges::any_of(nest.phases, test);
}

}  // namespace

bool IsPlaced(const LoopNest& nest) {
  return AnyPhase(nest, [](const Phase& phase) {
    return phase.workgroup.invocations != 0;
  });
}

bool IsDeviceNest(const LoopNest& nest) {
  return IsPlaced(nest) || AnyPhase(nest, [](const Phase& phase) {
           return HasBarrier(phase.body);
         });
}

bool HasInvocationLoop(const Block& block) {
  return std::ranges::any_of(block, [](const Statement& statement) {
    return IsInvocationLoop(statement) || HasInvocationLoop(statement.body);
  });
}

}  // namespace ember::loops
