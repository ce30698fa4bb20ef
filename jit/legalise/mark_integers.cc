#include "jit/legalise/mark_integers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "jit/loops/walk.h"

namespace ember::jit::legalise {
namespace {

using loops::Block;
using loops::BoundsTest;
using loops::NodeId;
using loops::Statement;
using tensor::Interval;
using tensor::Node;
using tensor::Opcode;

class Marker {
 public:
  Marker(const RangeOf& range_of, loops::LoopNest& nest)
      : range_of_(range_of), nest_(nest) {}

  void Run() {
    nest_.wide.clear();
    MarkAll(nest_.extents);
    for (loops::Buffer& buffer : nest_.buffers) MarkAll(buffer.extents);
    for (std::vector<loops::Phase>* const phases :
         {&nest_.prologue, &nest_.phases}) {
      for (loops::Phase& phase : *phases) {
        MarkLoop(phase.task);
        Visit(phase.body);
      }
    }
    std::ranges::sort(nest_.wide);
    const auto rest = std::ranges::unique(nest_.wide);
    nest_.wide.erase(rest.begin(), rest.end());
  }

 private:
  void Visit(Block& block) {
    for (Statement& statement : block) Visit(statement);
  }

  void Visit(Statement& statement) {
    switch (statement.kind) {
      case Statement::Kind::kFor:
        MarkLoop(statement.variable);
        if (statement.subgroup_size != 0) MarkLoop(statement.subgroup);
        break;
      case Statement::Kind::kIf:
        statement.condition = Mark(statement.condition);
        break;
      case Statement::Kind::kStore:
        for (loops::Store& store : statement.stores) {
          MarkAll(store.indices);
          store.value = Mark(store.value);
        }
        break;
      case Statement::Kind::kCheck:
        statement.index = Mark(statement.index);
        statement.extent = Mark(statement.extent);
        statement.test = TestOf(statement.index, statement.extent);
        break;
      case Statement::Kind::kPrefetch:
        statement.index = Mark(statement.index);
        break;
      case Statement::Kind::kSlot:
        statement.slot.slot = Mark(statement.slot.slot);
        break;
      case Statement::Kind::kAwait:
      case Statement::Kind::kBarrier:
      case Statement::Kind::kFirst:
        break;
    }
    Visit(statement.body);
  }

  void MarkLoop(NodeId variable) {
    Mark(loops::ExtentOf(nest_.pool, variable));
    Mark(variable);
  }

  void MarkAll(std::vector<NodeId>& roots) {
    for (NodeId& root : roots) root = Mark(root);
  }

  // Returns the expression with bounds tests marked on each Pad, and adds the
  // nodes that may not fit 32 bits to nest_.wide.
  NodeId Mark(NodeId root) {
    for (const NodeId id : loops::NodesUnder(nest_.pool, {&root, 1})) {
      if (marked_.contains(id)) continue;
      const NodeId result = WithTests(id);
      marked_.emplace(id, result);
      marked_.emplace(result, result);
      if (IsWide(result)) nest_.wide.push_back(result);
    }
    return marked_.at(root);
  }

  NodeId WithTests(NodeId id) {
    const Node& node = nest_.pool[id];
    std::vector<NodeId> operands = node.operands;
    uint64_t immediate = node.immediate;
    if (node.opcode != Opcode::kAxis) {
      for (NodeId& operand : operands) operand = marked_.at(operand);
    }
    if (node.opcode == Opcode::kPad) {
      const std::vector<NodeId>& extents = nest_.buffers[node.buffer].extents;
      std::vector<BoundsTest> tests;
      for (size_t dim = 0; dim < extents.size(); ++dim)
        tests.push_back(TestOf(operands[dim], extents[dim]));
      immediate = loops::MarksOf(loops::VectorOf(node), tests);
    }
    if (operands == node.operands && immediate == node.immediate) return id;
    const NodeId made = nest_.pool.Intern(node.opcode, node.type, operands,
                                          immediate, node.scope, node.buffer);
    nest_.pool.Refine(made, node.range);
    return made;
  }

  BoundsTest TestOf(NodeId index, NodeId extent) const {
    const Interval inside = range_of_(index);
    const Interval size = range_of_(extent);
    if (inside.low >= 0)
      return inside.high < size.low ? BoundsTest::kNone : BoundsTest::kUpper;
    return size.low >= 0 ? BoundsTest::kUnsigned : BoundsTest::kBoth;
  }

  // True if the i64 node may not fit 32 bits. A loop's variable is incremented
  // once beyond its last value, and that number must fit, too.
  bool IsWide(NodeId id) const {
    const Node& node = nest_.pool[id];
    if (node.type != DType::kI64) return false;
    const int64_t most = INT32_MAX - (node.opcode == Opcode::kAxis ? 1 : 0);
    return !range_of_(id).Within({INT32_MIN, most});
  }

  const RangeOf& range_of_;
  loops::LoopNest& nest_;
  // the marked node that replaces each node; key: the node
  std::unordered_map<NodeId, NodeId> marked_;
};

}  // namespace

void MarkIntegers(const RangeOf& range_of, loops::LoopNest& nest) {
  Marker(range_of, nest).Run();
}

}  // namespace ember::jit::legalise
