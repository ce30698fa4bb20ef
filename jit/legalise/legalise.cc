#include "jit/legalise/legalise.h"

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jit/legalise/rules.h"
#include "jit/loops/analysis/facts.h"
#include "jit/loops/raw.h"
#include "jit/loops/walk.h"
#include "jit/math/expand.h"

namespace ember::jit::legalise {
namespace {

using loops::Block;
using loops::LoopKind;
using loops::LoopNest;
using loops::Statement;
using tensor::Node;

class NestLegaliser {
 public:
  NestLegaliser(LoopNest& nest, const TargetOperations& operations,
                const RangeOf& range_of)
      : nest_(nest),
        range_of_(range_of),
        legaliser_(
            AllRules(), operations, [this](NodeId id) { return RangeOf(id); },
            nest.pool) {}

  void Run() {
    for (loops::Buffer& buffer : nest_.buffers) RewriteAll(buffer.extents);
    RewriteAll(nest_.extents);
    for (std::vector<loops::Phase>* phases : {&nest_.prologue, &nest_.phases}) {
      for (loops::Phase& phase : *phases) {
        phase.task = Rewrite(phase.task);
        RewriteBlock(phase.body);
      }
    }
  }

 private:
  // Returns the range of a node. A new node that replaces an old one has the
  // old one's value, so facts about the old node hold for it, too.
  tensor::Interval RangeOf(NodeId id) const {
    const auto original = originals_.find(id);
    if (original != originals_.end()) id = original->second;
    return range_of_(id);
  }

  void RewriteAll(std::vector<NodeId>& nodes) {
    for (NodeId& node : nodes) node = Rewrite(node);
  }

  void RewriteBlock(Block& block) {
    for (Statement& statement : block) RewriteStatement(statement);
  }

  void RewriteStatement(Statement& statement) {
    switch (statement.kind) {
      case Statement::Kind::kFor: {
        const bool is_matrix = statement.loop == LoopKind::kMatrix &&
                               legaliser_.target().matrix_loops;
        statement.variable = Rewrite(statement.variable);
        if (statement.subgroup_size != 0)
          statement.subgroup = Rewrite(statement.subgroup);
        const bool was_in_matrix =
            std::exchange(in_matrix_, in_matrix_ || is_matrix);
        RewriteBlock(statement.body);
        in_matrix_ = was_in_matrix;
        return;
      }
      case Statement::Kind::kIf:
        statement.condition = Rewrite(statement.condition);
        return RewriteBlock(statement.body);
      case Statement::Kind::kStore:
        for (loops::Store& store : statement.stores) {
          RewriteAll(store.indices);
          store.value =
              in_matrix_ ? RewriteLoads(store.value) : Rewrite(store.value);
        }
        return;
      case Statement::Kind::kCheck:
        statement.index = Rewrite(statement.index);
        statement.extent = Rewrite(statement.extent);
        return;
      case Statement::Kind::kPrefetch:
        statement.index = Rewrite(statement.index);
        return;
      case Statement::Kind::kSlot:
        statement.slot.slot = Rewrite(statement.slot.slot);
        return;
      case Statement::Kind::kFirst:
        return RewriteBlock(statement.body);
      case Statement::Kind::kAwait:
      case Statement::Kind::kBarrier:
        return;
    }
  }

  // Rewrites the value of a store in a matrix loop. Only its loads are
  // legalised; products and casts stay, because the matrix instruction computes
  // them.
  NodeId RewriteLoads(NodeId id) {
    const Node& node = nest_.pool[id];
    if (node.opcode != Opcode::kMultiply && node.opcode != Opcode::kCast)
      return Rewrite(id);
    std::vector<NodeId> operands;
    for (NodeId operand : node.operands)
      operands.push_back(RewriteLoads(operand));
    return nest_.pool.Intern(node.opcode, node.type, operands, node.immediate,
                             node.scope);
  }

  // Returns the node that replaces the root. Uses its own stack instead of
  // recursion, because chains of nodes may be long; only extents of variables
  // recurse.
  NodeId Rewrite(NodeId root) {
    std::vector<std::pair<NodeId, size_t>> stack = {{root, 0}};
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      if (rewritten_.contains(id)) {
        stack.pop_back();
        continue;
      }
      const std::span<const NodeId> operands =
          loops::OperandsOf(nest_.pool, id);
      if (next < operands.size()) {
        const NodeId operand = operands[next++];
        stack.push_back({operand, 0});
        continue;
      }
      const NodeId node = id;
      stack.pop_back();
      const NodeId result = RewriteNode(node);
      if (result != node && nest_.pool[node].type == DType::kI64) {
        nest_.pool.Refine(result, nest_.pool[node].range);
        originals_.emplace(result, node);
      }
      rewritten_.emplace(node, result);
    }
    return rewritten_.at(root);
  }

  // If the node is a function that the target lacks and jit/math expands,
  // returns its expansion; otherwise nullopt.
  std::optional<NodeId> Expand(NodeId id) {
    const Node& node = nest_.pool[id];
    if (!loops::MayBeRaw(node.opcode)) return std::nullopt;
    const DType type = nest_.pool[node.operands[0]].type;
    if (!IsExpanded(node.opcode, type)) return std::nullopt;
    const bool is_here = legaliser_.target().exponentials &&
                         node.opcode == Opcode::kExp && type != DType::kF64;
    if (is_here) return std::nullopt;
    // The operands are copied, because ExpandMath adds nodes to the pool, which
    // may move the node.
    const std::vector<NodeId> operands(node.operands.begin(),
                                       node.operands.end());
    return ExpandMath(nest_.pool, node.opcode, type, operands);
  }

  // Returns the node that replaces node `id`, whose operands have been
  // rewritten, except for the extent of a variable.
  NodeId RewriteNode(NodeId id) {
    if (const std::optional<NodeId> expanded = Expand(id))
      return Rewrite(*expanded);
    const Node& node = nest_.pool[id];
    const bool is_leaf =
        node.operands.empty() && !loops::MayBeRaw(node.opcode) &&
        node.opcode != Opcode::kLoad && node.opcode != Opcode::kPad;
    if (is_leaf) return id;
    std::vector<NodeId> operands;
    for (NodeId operand : node.operands) {
      operands.push_back(node.opcode == Opcode::kAxis ? Rewrite(operand)
                                                      : rewritten_.at(operand));
    }
    if (loops::MayBeRaw(node.opcode)) {
      return legaliser_.Make(
          {node.opcode, node.type, std::move(operands), loops::IsRaw(node)});
    }
    return nest_.pool.Intern(node.opcode, node.type, operands, node.immediate,
                             node.scope, node.buffer);
  }

  LoopNest& nest_;
  const legalise::RangeOf& range_of_;
  Legaliser legaliser_;
  std::unordered_map<NodeId, NodeId> rewritten_;
  // the old node that each new i64 node replaces; key: the new node
  std::unordered_map<NodeId, NodeId> originals_;
  bool in_matrix_ = false;
};

}  // namespace

void Legalise(const TargetOperations& operations, LoopNest& nest) {
  const loops::Facts facts(nest);
  const RangeOf range_of = [&](NodeId id) {
    return tensor::Intersect(nest.pool[id].range, facts.RangeOf(id));
  };
  NestLegaliser(nest, operations, range_of).Run();
}

void Legalise(const TargetOperations& operations, LoopNest& nest,
              const RangeOf& range_of) {
  NestLegaliser(nest, operations, range_of).Run();
}

}  // namespace ember::jit::legalise
