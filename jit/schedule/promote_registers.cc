#include "jit/schedule/promote_registers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tensor/linear.h"

namespace ember::schedule {
namespace {

using loops::Block;
using loops::LoopKind;
using loops::Scope;
using loops::Statement;
using tensor::NodeId;
using tensor::Opcode;

constexpr int64_t kMaximumElements = 4096;

class Promoter {
 public:
  explicit Promoter(loops::LoopNest& nest) : nest_(nest) {
    for (const loops::Buffer& buffer : nest.buffers)
      candidates_.push_back(IsSmall(buffer));
  }

  void Run() {
    for (const auto* phases : {&nest_.prologue, &nest_.phases}) {
      for (const loops::Phase& phase : *phases) Visit(phase.body);
    }
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (!candidates_[i]) continue;
      nest_.buffers[i].scope = Scope::kRegister;
      Widen(nest_.buffers[i], last_index_[i]);
    }
  }

 private:
  // Room for all lanes of an access, also those that an If around it masks.
  void Widen(loops::Buffer& buffer, int64_t last_index) {
    if (buffer.extents.empty()) return;
    NodeId& extent = buffer.extents.back();
    if (*nest_.pool.IntegerConstant(extent) > last_index) return;
    extent =
        nest_.pool.Constant(static_cast<uint64_t>(last_index + 1), DType::kI64);
  }

  bool IsSmall(const loops::Buffer& buffer) const {
    if (buffer.scope != Scope::kTask) return false;
    int64_t count = 1;
    for (NodeId extent : buffer.extents) {
      const std::optional<int64_t> constant =
          nest_.pool.IntegerConstant(extent);
      if (!constant || *constant > kMaximumElements) return false;
      count *= *constant;
      if (count > kMaximumElements) return false;
    }
    return true;
  }

  void Visit(const Block& block) {
    for (const Statement& statement : block) {
      switch (statement.kind) {
        case Statement::Kind::kFor:
          kinds_[statement.variable] = statement.loop;
          Visit(statement.body);
          break;
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
        case Statement::Kind::kStore:
          for (const loops::Target& target : statement.targets) {
            VisitAccess(target.buffer, target.indices);
            for (NodeId index : target.indices) VisitExpression(index);
            VisitExpression(target.value);
          }
          break;
      }
    }
  }

  void VisitExpression(NodeId root) {
    // The kinds of variables do not change, so once is enough.
    std::vector<NodeId> stack = {root};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (!seen_.insert(id).second) continue;
      const tensor::Node& node = nest_.pool[id];
      if (node.opcode == Opcode::kAxis) continue;
      // The last operand of Pad is no index.
      if (node.opcode == Opcode::kPad) candidates_[node.buffer] = false;
      if (node.opcode == Opcode::kLoad) VisitAccess(node.buffer, node.operands);
      stack.insert(stack.end(), node.operands.begin(), node.operands.end());
    }
  }

  void VisitAccess(uint32_t buffer, const std::vector<NodeId>& indices) {
    if (!candidates_[buffer]) return;
    for (size_t d = 0; d < indices.size(); ++d) {
      if (!IsKnown(indices[d], d + 1 == indices.size()))
        candidates_[buffer] = false;
    }
    if (indices.empty()) return;
    const int64_t last = nest_.pool[indices.back()].range.high;
    if (last >= kMaximumElements) candidates_[buffer] = false;
    last_index_[buffer] = std::max(last_index_[buffer], last);
  }

  // Linear sums leave out variables that are always 0, of loops that run at
  // most once: they are no constants, still.
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
      if (kind == kinds_.end() || kind->second == LoopKind::kSerial)
        return true;
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
      if (kind->second == LoopKind::kUnrolled) continue;
      if (!last || term.coefficient != 1) return false;
    }
    return true;
  }

  loops::LoopNest& nest_;
  std::vector<bool> candidates_;
  std::map<uint32_t, int64_t> last_index_;
  std::map<NodeId, LoopKind> kinds_;
  std::set<NodeId> seen_;
};

}  // namespace

void PromoteRegisters(loops::LoopNest& nest) { Promoter(nest).Run(); }

}  // namespace ember::schedule
