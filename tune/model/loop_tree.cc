#include "tune/model/loop_tree.h"

#include <algorithm>
#include <utility>

#include "jit/loops/walk.h"

namespace ember::tune {
namespace {

using loops::Block;
using loops::LoopKind;
using loops::NodeId;
using loops::Statement;
using tensor::Interval;
using tensor::Node;
using tensor::Opcode;

LoopRole RoleOf(LoopKind kind, bool is_gpu) {
  switch (kind) {
    case LoopKind::kSerial:
      return LoopRole::kSerial;
    case LoopKind::kUnrolled:
      return LoopRole::kUnrolled;
    case LoopKind::kVector:
      return LoopRole::kLanes;
    case LoopKind::kInvocation:
    case LoopKind::kSubgroup:
      return is_gpu ? LoopRole::kInvocations : LoopRole::kSerial;
    case LoopKind::kDot:
      return LoopRole::kDot;
    case LoopKind::kMatrix:
      return is_gpu ? LoopRole::kMatrix : LoopRole::kSerial;
  }
  return LoopRole::kSerial;
}

double Size(int64_t number) { return static_cast<double>(number); }

// Returns the probability of a < b if a and b take all values of their ranges
// equally often.
double ShareBelow(Interval a, Interval b) {
  if (a.high < b.low) return 1;
  if (a.low >= b.high) return 0;
  // In most conditions b is constant, so a is compared with the middle of b's
  // range instead of with all of its values.
  const double limit = (Size(b.low) + Size(b.high)) / 2;
  const double count = Size(a.high) - Size(a.low) + 1;
  return std::clamp((limit - Size(a.low)) / count, 0.0, 1.0);
}

}  // namespace

LoopTree::LoopTree(const loops::LoopNest& nest,
                   std::span<const int64_t> parameters, bool is_gpu)
    : nest_(nest), is_gpu_(is_gpu), ranges_(nest, parameters) {
  for (size_t i = 0; i < nest.phases.size(); ++i) {
    const loops::Phase& phase = nest.phases[i];
    const Interval tasks = ranges_.Of(loops::ExtentOf(nest.pool, phase.task));
    loops_.push_back({.phase = static_cast<int>(i),
                      .role = LoopRole::kTasks,
                      .variable = phase.task,
                      .extent = Size(std::max<int64_t>(tasks.high, 0)),
                      .stores = std::vector<bool>(nest.buffers.size())});
    Add(phase.body, static_cast<int>(loops_.size()) - 1, 1, false);
  }
  // Passes `stores` from inner to outer loops. The list has each loop after the
  // loops around it, so this goes backwards.
  for (size_t i = loops_.size(); i-- > 0;) {
    if (loops_[i].parent < 0) continue;
    std::vector<bool>& stores =
        loops_[static_cast<size_t>(loops_[i].parent)].stores;
    for (size_t b = 0; b < stores.size(); ++b)
      stores[b] = stores[b] || loops_[i].stores[b];
  }
}

void LoopTree::Add(const Block& block, int loop, double share, bool is_masked) {
  for (const Statement& statement : block) {
    switch (statement.kind) {
      case Statement::Kind::kFor: {
        const Interval extent =
            ranges_.Of(loops::ExtentOf(nest_.pool, statement.variable));
        const TreeLoop& around = loops_[static_cast<size_t>(loop)];
        TreeLoop inner{.parent = loop,
                       .phase = around.phase,
                       .role = RoleOf(statement.loop, is_gpu_),
                       .variable = statement.variable,
                       .extent = Size(std::max<int64_t>(extent.high, 0)),
                       .runs = around.runs * around.extent * share,
                       .stores = std::vector<bool>(nest_.buffers.size())};
        loops_.push_back(std::move(inner));
        Add(statement.body, static_cast<int>(loops_.size()) - 1, 1, is_masked);
        break;
      }
      case Statement::Kind::kIf: {
        const bool differs = DiffersInLanes(statement.condition, loop);
        leaves_.push_back({&statement, loop, share, is_masked});
        // If the condition differs between lanes, the body is executed with a
        // mask. Lanes for which the condition is false then take as much time
        // as the others, so the share is not reduced.
        const double inside =
            differs ? share : share * ShareOf(statement.condition);
        Add(statement.body, loop, inside, is_masked || differs);
        break;
      }
      case Statement::Kind::kFirst:
        Add(statement.body, loop, share, is_masked);
        break;
      case Statement::Kind::kStore:
        for (const loops::Store& store : statement.stores)
          loops_[static_cast<size_t>(loop)].stores[store.buffer] = true;
        leaves_.push_back({&statement, loop, share, is_masked});
        break;
      case Statement::Kind::kCheck:
      case Statement::Kind::kPrefetch:
      case Statement::Kind::kAwait:
      case Statement::Kind::kBarrier:
      case Statement::Kind::kSlot:
        leaves_.push_back({&statement, loop, share, is_masked});
        break;
    }
  }
}

std::vector<int> LoopTree::ChainOf(int loop) const {
  std::vector<int> chain;
  for (int i = loop; i >= 0; i = loops_[static_cast<size_t>(i)].parent)
    chain.push_back(i);
  std::ranges::reverse(chain);
  return chain;
}

int LoopTree::CodeLoopOf(int loop) const {
  while (!loops_[static_cast<size_t>(loop)].IsCodeLoop())
    loop = loops_[static_cast<size_t>(loop)].parent;
  return loop;
}

double LoopTree::ElementsOf(uint32_t buffer) const {
  double elements = 1;
  for (NodeId extent : nest_.buffers[buffer].extents)
    elements *= Size(std::max<int64_t>(ranges_.Of(extent).high, 0));
  return elements;
}

double LoopTree::BytesOf(uint32_t buffer) const {
  return ElementsOf(buffer) * DTypeByteSize(nest_.buffers[buffer].type);
}

double LoopTree::ShareOf(NodeId condition) const {
  const Node& node = nest_.pool[condition];
  const auto operand = [&](size_t i) { return node.operands[i]; };
  switch (node.opcode) {
    case Opcode::kConstant:
      return node.immediate != 0 ? 1 : 0;
    case Opcode::kLess:
      return ShareBelow(ranges_.Of(operand(0)), ranges_.Of(operand(1)));
    case Opcode::kLessEqual:
      return 1 - ShareBelow(ranges_.Of(operand(1)), ranges_.Of(operand(0)));
    case Opcode::kAnd:
      return ShareOf(operand(0)) * ShareOf(operand(1));
    case Opcode::kOr: {
      const double a = ShareOf(operand(0)), b = ShareOf(operand(1));
      return a + b - a * b;
    }
    case Opcode::kNot:
      return 1 - ShareOf(operand(0));
    default:
      return 0.5;
  }
}

bool LoopTree::DiffersInLanes(NodeId condition, int loop) const {
  const std::vector<NodeId> nodes =
      loops::NodesUnder(nest_.pool, {&condition, 1});
  for (int i = loop; i >= 0; i = loops_[static_cast<size_t>(i)].parent) {
    const TreeLoop& around = loops_[static_cast<size_t>(i)];
    if (around.role != LoopRole::kLanes &&
        around.role != LoopRole::kInvocations) {
      continue;
    }
    if (std::ranges::find(nodes, around.variable) != nodes.end()) return true;
  }
  return false;
}

}  // namespace ember::tune
