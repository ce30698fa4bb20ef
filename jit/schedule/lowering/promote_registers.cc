
#include "jit/schedule/lowering/promote_registers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tensor/builder/linear.h"

namespace ember::schedule {
namespace {

using loops::Block;
using loops::LoopKind;
using loops::MemoryScope;
using loops::Statement;
using tensor::NodeId;
using tensor::Opcode;

constexpr int64_t kMaxElements = 4096;

class Promoter {
 public:
  Promoter(std::span<const uint32_t> in_memory, loops::LoopNest& nest)
      : nest_(nest) {
    for (const loops::Buffer& buffer : nest.buffers)
      candidates_.push_back(buffer.scope == MemoryScope::kTask);
    for (const uint32_t buffer : in_memory) candidates_[buffer] = false;
    access_kinds_.resize(nest.buffers.size());
  }

  void Run() {
    for (const auto* phases : {&nest_.prologue, &nest_.phases}) {
      for (const loops::Phase& phase : *phases) Visit(phase.body);
    }
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (!candidates_[i] || !IsSmall(i)) continue;
      nest_.buffers[i].scope = MemoryScope::kRegister;
      Widen(nest_.buffers[i], last_index_[i]);
    }
  }

 private:
  // Extends the last dim of the buffer to all lanes of the widest access, even
  // if a surrounding If masks some of these lanes.
  void Widen(loops::Buffer& buffer, int64_t last_index) {
    if (buffer.extents.empty()) return;
    NodeId& extent = buffer.extents.back();
    if (*nest_.pool.IntegerConstant(extent) > last_index) return;
    extent = nest_.pool.Integer(last_index + 1);
  }

  // True if the buffer is small enough for registers. If its first index is the
  // invocation, only the elements of one invocation count.
  bool IsSmall(size_t number) const {
    const std::vector<NodeId>& extents = nest_.buffers[number].extents;
    int64_t count = 1;
    for (size_t d = 0; d < extents.size(); ++d) {
      const std::optional<int64_t> constant =
          nest_.pool.IntegerConstant(extents[d]);
      if (!constant) return false;
      if (d == 0 && access_kinds_[number].own) continue;
      if (*constant > kMaxElements) return false;
      count *= *constant;
      if (count > kMaxElements) return false;
    }
    return true;
  }

  void Visit(const Block& block) {
    for (const Statement& statement : block) {
      switch (statement.kind) {
        case Statement::Kind::kFor: {
          kinds_[statement.variable] = statement.loop;
          const bool binds = statement.loop == LoopKind::kInvocation;
          if (binds) EnterInvocations(statement.variable);
          Visit(statement.body);
          if (binds) EnterInvocations(std::nullopt);
          break;
        }
        case Statement::Kind::kIf:
          VisitExpression(statement.condition);
          Visit(statement.body);
          break;
        case Statement::Kind::kCheck:
          VisitExpression(statement.index);
          VisitExpression(statement.extent);
          break;
        case Statement::Kind::kPrefetch:
          candidates_[statement.buffer] = false;
          VisitExpression(statement.index);
          break;
        case Statement::Kind::kAwait:
        case Statement::Kind::kBarrier:
        case Statement::Kind::kSlot:
        case Statement::Kind::kFirst:
          break;
        case Statement::Kind::kStore:
          for (const loops::Store& store : statement.stores) {
            VisitAccess(store.buffer, store.indices);
            for (NodeId index : store.indices) VisitExpression(index);
            VisitExpression(store.value);
          }
          break;
      }
    }
  }

  // Notes that an invocation loop begins (variable) or ends (nullopt).
  // Expressions that were visited before are visited again, because the first
  // index may now be the invocation.
  void EnterInvocations(std::optional<NodeId> variable) {
    invocation_ = variable;
    seen_.clear();
  }

  void VisitExpression(NodeId root) {
    // Each node is visited once per invocation loop: inside of it, the kinds of
    // all loops are the same.
    std::vector<NodeId> stack = {root};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (!seen_.insert(id).second) continue;
      const tensor::Node& node = nest_.pool[id];
      if (node.opcode == Opcode::kAxis) continue;
      // A buffer with padded loads stays in memory: the load's last operand is
      // the default value, not an index.
      if (node.opcode == Opcode::kPad) candidates_[node.buffer] = false;
      if (node.opcode == Opcode::kLoad) VisitAccess(node.buffer, node.operands);
      stack.insert(stack.end(), node.operands.begin(), node.operands.end());
    }
  }

  void VisitAccess(uint32_t buffer, const std::vector<NodeId>& indices) {
    if (!candidates_[buffer]) return;
    const bool own = IsOwn(buffer, indices);
    access_kinds_[buffer].own |= own;
    access_kinds_[buffer].common |= !own;
    // A buffer stays in memory if some accesses have the invocation as first
    // index and others have not, or if an invocation loop accesses it without
    // that index, because invocations may then access the same element.
    if (access_kinds_[buffer].own == access_kinds_[buffer].common ||
        (!own && invocation_)) {
      candidates_[buffer] = false;
    }
    for (size_t d = own ? 1 : 0; d < indices.size(); ++d) {
      if (!IsKnown(indices[d], d + 1 == indices.size()))
        candidates_[buffer] = false;
    }
    if (indices.empty()) return;
    const int64_t last = nest_.pool[indices.back()].range.high;
    if (last >= kMaxElements) candidates_[buffer] = false;
    last_index_[buffer] = std::max(last_index_[buffer], last);
  }

  // True if the first index is the variable of the surrounding invocation loop,
  // and the dim has that loop's extent.
  bool IsOwn(uint32_t buffer, const std::vector<NodeId>& indices) const {
    if (!invocation_ || indices.empty() || indices[0] != *invocation_)
      return false;
    const NodeId extent = nest_.pool[*invocation_].operands[0];
    return nest_.buffers[buffer].extents[0] == extent;
  }

  // True if the index contains any variable except those of unrolled, vector
  // and dot loops around the access. Linear sums omit the variables of loops
  // with at most one iteration, because they are 0, but such variables are
  // still no constants in the code.
  bool HasSerialVariable(NodeId index) const {
    std::vector<NodeId> stack = {index};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      const tensor::Node& node = nest_.pool[id];
      if (node.opcode != Opcode::kAxis) {
        stack.insert(stack.end(), node.operands.begin(), node.operands.end());
        continue;
      }
      const auto kind = kinds_.find(id);
      if (kind == kinds_.end()) return true;
      switch (kind->second) {
        case LoopKind::kUnrolled:
        case LoopKind::kVector:
        case LoopKind::kDot:
          break;
        case LoopKind::kSerial:
        case LoopKind::kInvocation:
        case LoopKind::kSubgroup:
        // A matrix loop counts, too: its factors and results must be in memory.
        case LoopKind::kMatrix:
          return true;
      }
    }
    return false;
  }

  bool IsKnown(NodeId index, bool last) const {
    const std::optional<tensor::LinearSum> sum =
        tensor::Linearize(nest_.pool, index);
    if (!sum || HasSerialVariable(index)) return false;
    for (const tensor::LinearTerm& term : sum->terms) {
      const auto kind = kinds_.find(term.node);
      if (kind == kinds_.end()) return false;
      if (kind->second == LoopKind::kUnrolled ||
          kind->second == LoopKind::kDot) {
        continue;
      }
      if (!last || term.coefficient != 1) return false;
    }
    return true;
  }

  loops::LoopNest& nest_;
  // The kinds of accesses that a buffer has. own: with the invocation as first
  // index. common: without it.
  struct AccessKinds {
    bool own = false;
    bool common = false;
  };

  std::vector<bool> candidates_;
  // for each buffer: the kinds of its accesses
  std::vector<AccessKinds> access_kinds_;
  // variable of the surrounding invocation loop, if there is one
  std::optional<NodeId> invocation_;
  std::map<uint32_t, int64_t> last_index_;
  std::map<NodeId, LoopKind> kinds_;
  std::set<NodeId> seen_;
};

}  // namespace

void PromoteRegisters(std::span<const uint32_t> in_memory,
                      loops::LoopNest& nest) {
  Promoter(in_memory, nest).Run();
}

}  // namespace ember::schedule
