// Implements WorkOf.
#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "jit/loops/walk.h"
#include "tensor/builder/coefficient.h"
#include "tune/model/body_work.h"
#include "tune/model/operation_kinds.h"

namespace ember::tune {
namespace {

using loops::MemoryScope;
using loops::NodeId;
using loops::Statement;
using loops::Store;
using tensor::ExpressionPool;
using tensor::Node;
using tensor::Opcode;
using tensor::Update;

// A set of the loops around a statement, as bits: bit i is set if element i of
// the list of these loops is in the set. Loops from number kMaxLoops on share
// the last bit.
using LoopSet = uint64_t;
constexpr size_t kMaxLoops = 63;
LoopSet BitOf(size_t position) {
  return LoopSet{1} << std::min(position, kMaxLoops);
}

// Says how often something is executed in a call of the kernel.
struct Times {
  // Number of executions; all lanes of a vector execute at once.
  double times = 0;
  // Number of copies of the instruction in the code, because of unrolling.
  double copies = 1;
  double lanes = 1;  // number of elements that one execution handles in lanes
  double invocations = 1;
  // True if the value differs between lanes or between a GPU's invocations.
  bool has_lanes = false;

  double elements() const { return times * lanes * invocations; }
};

enum class LaneStep : uint8_t { kSame, kNext, kNear, kAnywhere };

// Counts the instructions of one statement (a leaf of the loop tree) and adds
// them to the work of a body.
class LeafCounter {
 public:
  LeafCounter(const LoopTree& tree, const Machine& machine, const Leaf& leaf,
              BodyWork& body, std::map<uint32_t, double>& tile)
      : tree_(tree),
        machine_(machine),
        pool_(tree.nest().pool),
        leaf_(leaf),
        body_(body),
        tile_(tile) {
    for (int loop : tree.ChainOf(leaf.loop))
      chain_.push_back(&tree.loops()[static_cast<size_t>(loop)]);
    for (size_t i = 0; i < chain_.size(); ++i) all_ |= BitOf(i);
  }

  void Count() {
    const Statement& statement = *leaf_.statement;
    FindLoopSets(loops::RootsOf(pool_, statement));
    switch (statement.kind) {
      case Statement::Kind::kFor:
      case Statement::Kind::kAwait:
      case Statement::Kind::kSlot:
      case Statement::Kind::kFirst:
        return;
      case Statement::Kind::kBarrier:
        body_.barriers += TimesOf(all_).times;
        return;
      case Statement::Kind::kIf:
        body_.guards += TimesOf(sets_.at(statement.condition)).times;
        CountValues({&statement.condition, 1});
        break;
      case Statement::Kind::kCheck:
        body_.checks += TimesOf(sets_.at(statement.index)).elements();
        break;
      case Statement::Kind::kPrefetch:
        body_.prefetches += TimesOf(sets_.at(statement.index)).times;
        break;
      case Statement::Kind::kStore:
        for (const Store& store : statement.stores) CountStore(store);
        break;
    }
    CountIndices(loops::RootsOf(pool_, statement));
  }

 private:
  // --- finding how often each value is computed

  void FindLoopSets(std::span<const NodeId> roots) {
    for (NodeId id : loops::NodesUnder(pool_, roots)) {
      const Node& node = pool_[id];
      LoopSet set = 0;
      for (NodeId operand : loops::OperandsOf(pool_, id))
        set |= sets_.at(operand);
      for (size_t i = 0; i < chain_.size(); ++i) {
        const bool varies =
            node.opcode == Opcode::kAxis
                ? chain_[i]->variable == id
                : IsAccess(node) && chain_[i]->stores[node.buffer];
        // A loaded value is treated as the same in all tasks, even if tasks
        // store to the buffer: a task's stores are to elements that other tasks
        // do not load.
        if (varies && (node.opcode == Opcode::kAxis || chain_[i]->parent >= 0))
          set |= BitOf(i);
      }
      sets_[id] = set;
    }
  }

  static bool IsAccess(const Node& node) {
    return node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad;
  }

  // Returns how often a value is computed that depends on the variables of the
  // loops in `set`.
  Times TimesOf(LoopSet set) const {
    size_t innermost = 0;
    for (size_t i = 0; i < chain_.size(); ++i) {
      if ((set & BitOf(i)) != 0 && chain_[i]->IsCodeLoop()) innermost = i;
    }
    Times result{.times = leaf_.share};
    for (size_t i = 0; i < chain_.size(); ++i) {
      const TreeLoop& loop = *chain_[i];
      const bool depends = (set & BitOf(i)) != 0;
      switch (loop.role) {
        case LoopRole::kTasks:
        case LoopRole::kSerial:
          if (i <= innermost) result.times *= loop.extent;
          break;
        case LoopRole::kUnrolled:
          if (!depends) break;
          result.times *= loop.extent;
          result.copies *= loop.extent;
          break;
        case LoopRole::kLanes:
          if (!depends) break;
          result.lanes *= loop.extent;
          result.has_lanes = true;
          break;
        case LoopRole::kInvocations:
          if (!depends) break;
          result.invocations *= loop.extent;
          result.has_lanes = true;
          break;
        case LoopRole::kDot:
        case LoopRole::kMatrix:
          break;
      }
    }
    return result;
  }

  // Returns the number of instructions that one execution takes: one for each
  // vector that the lanes fill, or on a GPU for each subgroup.
  double VectorsOf(const Times& times, DType type) const {
    const double lanes = machine_.Lanes(type);
    return machine_.is_gpu ? times.lanes * std::ceil(times.invocations / lanes)
                           : std::ceil(times.lanes / lanes);
  }

  double ExtentOf(LoopRole role) const {
    double extent = 1;
    for (const TreeLoop* loop : chain_)
      if (loop->role == role) extent *= loop->extent;
    return extent;
  }

  // --- arithmetic ---

  // Adds operations on elements to the body's work, and the instructions that
  // they take. `counter` is the member that counts these instructions, `cost`
  // the number of simple instructions for one operation.
  void CountOperations(const Times& times, DType type, double cost,
                       double operations, double BodyWork::* counter) {
    const double vectors = VectorsOf(times, type);
    body_.*counter += times.times * vectors * cost;
    body_.code_instructions += times.copies * vectors * cost;
    body_.operations += times.elements() * operations;
    if (times.has_lanes) {
      body_.lane_operations += times.elements() * operations;
    }
    body_.lane_places += times.times * vectors * machine_.Lanes(type);
    body_.lanes_used += times.elements();
  }

  void CountNode(const Node& node, LoopSet set) {
    const DType type =
        node.operands.empty() ? node.type : pool_[node.operands.back()].type;
    const OperationKind kind = KindOf(node.opcode, type);
    double BodyWork::* counter = nullptr;
    switch (kind) {
      case OperationKind::kNone:
      case OperationKind::kMemory:
        return;
      case OperationKind::kFloat:
        counter = &BodyWork::floats;
        break;
      case OperationKind::kSlow:
        counter = &BodyWork::slow;
        break;
      case OperationKind::kFunction:
        counter = &BodyWork::functions;
        break;
      case OperationKind::kInteger:
      case OperationKind::kProduct:
        counter = &BodyWork::integers;
        break;
      case OperationKind::kConvert:
        counter = &BodyWork::converts;
        break;
      case OperationKind::kSelect:
        counter = &BodyWork::selects;
        break;
    }
    CountOperations(TimesOf(set), type, CostOf(kind, type), 1, counter);
  }

  // Counts the instructions that compute the values of the nodes `roots`, and
  // the loads of their operands, each node once.
  void CountValues(std::span<const NodeId> roots, bool is_dot = false) {
    std::vector<NodeId> stack(roots.begin(), roots.end());
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (!std::exchange(is_value_[id], true)) {
        const Node& node = pool_[id];
        if (IsAccess(node)) {
          CountLoad(id, is_dot);
          if (node.opcode == Opcode::kPad)
            stack.push_back(node.operands.back());
          continue;
        }
        if (!is_dot) CountNode(node, sets_.at(id));
        const std::span<const NodeId> operands = loops::OperandsOf(pool_, id);
        stack.insert(stack.end(), operands.begin(), operands.end());
      }
    }
  }

  void CountIndices(std::span<const NodeId> roots) {
    for (NodeId id : loops::NodesUnder(pool_, roots)) {
      if (is_value_[id]) continue;
      const Node& node = pool_[id];
      if (IsAccess(node)) {
        CountLoad(id, false);
        continue;
      }
      if (node.operands.empty() || node.opcode == Opcode::kAxis) continue;
      const OperationKind kind =
          KindOf(node.opcode, pool_[node.operands.back()].type);
      const Times times = TimesOf(sets_.at(id));
      if (kind == OperationKind::kSlow) {
        body_.index_divisions += times.times * VectorsOf(times, node.type);
      } else {
        // Only the scalar part of an index is counted: the load instruction
        // itself adds the offsets of the lanes.
        body_.index_instructions += times.times;
      }
    }
  }

  // --- memory ---

  LaneStep LaneStepOf(std::span<const NodeId> indices) const {
    LaneStep step = LaneStep::kSame;
    for (const TreeLoop* loop : chain_) {
      if (loop->role != LoopRole::kLanes &&
          loop->role != LoopRole::kInvocations) {
        continue;
      }
      for (size_t d = 0; d < indices.size(); ++d) {
        if (!tensor::DependsOn(pool_, indices[d], loop->variable)) continue;
        const auto distance =
            tensor::CoefficientOf(pool_, indices[d], loop->variable);
        constexpr int64_t kNear = 4;
        LaneStep here = LaneStep::kAnywhere;
        if (d + 1 == indices.size() && distance) {
          if (std::abs(*distance) == 1) {
            here = LaneStep::kNext;
          } else if (std::abs(*distance) <= kNear) {
            here = LaneStep::kNear;
          }
        }
        step = std::max(step, here);
      }
    }
    return step;
  }

  void NoteTile(uint32_t buffer, std::span<const NodeId> indices) {
    LoopSet set = 0;
    for (NodeId index : indices) set |= sets_.at(index);
    const Times times = TimesOf(set);
    double& registers = tile_[buffer];
    registers = std::max(
        registers,
        times.copies * VectorsOf(times, tree_.nest().buffers[buffer].type));
  }

  void CountLoad(NodeId id, bool is_dot) {
    const Node& node = pool_[id];
    const loops::Buffer& buffer = tree_.nest().buffers[node.buffer];
    const std::span<const NodeId> indices =
        std::span(node.operands).first(buffer.extents.size());
    if (buffer.scope == MemoryScope::kRegister)
      return NoteTile(node.buffer, indices);
    const Times times = TimesOf(sets_.at(id));
    if (leaf_.is_masked) body_.masked += times.times;
    if (node.opcode == Opcode::kPad) body_.pads += 2 * times.times;
    if (is_dot) {
      Times bytes = times;
      bytes.lanes *= ExtentOf(LoopRole::kDot);
      return CountAccess(times, LaneStep::kNext, VectorsOf(bytes, node.type),
                         /*is_store=*/false);
    }
    CountAccess(times, LaneStepOf(indices), VectorsOf(times, node.type),
                /*is_store=*/false);
  }

  void CountAccess(const Times& times, LaneStep step, double vectors,
                   bool is_store) {
    body_.code_instructions += times.copies * vectors;
    if (!times.has_lanes || step == LaneStep::kSame) {
      (is_store ? body_.scalar_stores : body_.scalar_loads) += times.times;
      return;
    }
    switch (step) {
      case LaneStep::kSame:
      case LaneStep::kNext:
        (is_store ? body_.vector_stores : body_.vector_loads) +=
            times.times * vectors;
        break;
      case LaneStep::kNear:
        (is_store ? body_.scattered_lanes : body_.strided_lanes) +=
            times.elements();
        break;
      case LaneStep::kAnywhere:
        (is_store ? body_.scattered_lanes : body_.gathered_lanes) +=
            times.elements();
        break;
    }
  }

  // --- stores ---

  void CountStore(const Store& store) {
    const loops::Buffer& buffer = tree_.nest().buffers[store.buffer];
    const double matrix = ExtentOf(LoopRole::kMatrix);
    const double dot = ExtentOf(LoopRole::kDot);
    const Times times = TimesOf(all_);
    const bool is_update = store.update != Update::kAssign;
    const Node& value = pool_[store.value];
    if (matrix > 1) {
      // One instruction of a subgroup multiplies whole small matrices, so each
      // execution counts as one instruction.
      if (is_update) body_.matrices += times.times;
      body_.operations += is_update ? 2 * matrix * times.times : 0;
      body_.lane_operations += is_update ? 2 * matrix * times.times : 0;
      return;
    }
    if (dot > 1) {
      CountOperations(times, buffer.type, 1, 2 * dot, &BodyWork::dots);
      CountValues({&store.value, 1}, /*is_dot=*/true);
    } else if (is_update && store.update == Update::kAdd &&
               value.opcode == Opcode::kMultiply && IsFloat(buffer.type) &&
               !IsNarrowFloat(buffer.type)) {
      CountOperations(times, buffer.type, machine_.has_fma ? 1 : 2, 2,
                      &BodyWork::fused);
      CountValues(value.operands);
      is_value_[store.value] = true;
    } else {
      if (is_update) {
        CountOperations(
            times, buffer.type, CostOf(OperationKind::kFloat, buffer.type), 1,
            IsFloat(buffer.type) ? &BodyWork::floats : &BodyWork::integers);
      }
      CountValues({&store.value, 1});
    }
    CountChain(store);
    if (buffer.scope == MemoryScope::kRegister)
      return NoteTile(store.buffer, store.indices);
    if (leaf_.is_masked) body_.masked += times.times;
    const LaneStep step = LaneStepOf(store.indices);
    const double vectors = VectorsOf(times, buffer.type);
    CountAccess(times, step, vectors, /*is_store=*/true);
    if (is_update) CountAccess(times, step, vectors, /*is_store=*/false);
  }

  // Counts the cycles of a chain of updates of one element (such as a sum), of
  // which each waits for the one before it.
  void CountChain(const Store& store) {
    // On a GPU such chains cost nothing, because other invocations run while
    // one waits.
    if (machine_.is_gpu) return;
    double latency = LatencyOf(store);
    if (latency == 0) return;
    constexpr double kOfMemory = 5;
    if (tree_.nest().buffers[store.buffer].scope != MemoryScope::kRegister)
      latency += kOfMemory;
    LoopSet set = 0;
    for (NodeId index : store.indices) set |= sets_.at(index);
    size_t innermost = 0;
    double unrolled = 1;
    for (size_t i = 0; i < chain_.size(); ++i) {
      if ((set & BitOf(i)) != 0) continue;
      if (chain_[i]->role == LoopRole::kSerial) innermost = i;
      if (chain_[i]->role == LoopRole::kUnrolled) unrolled *= chain_[i]->extent;
    }
    if (innermost == 0) return;
    double steps = leaf_.share * unrolled;
    for (size_t i = 0; i <= innermost; ++i) {
      if (chain_[i]->IsCodeLoop()) steps *= chain_[i]->extent;
    }
    body_.chain_cycles = std::max(body_.chain_cycles, latency * steps);
  }

  // Returns the cycles from the load of the element's old value until the new
  // value is known. Returns 0 if the store does not use the old value.
  double LatencyOf(const Store& store) const {
    constexpr double kFloat = 4, kInteger = 1;
    const DType type = tree_.nest().buffers[store.buffer].type;
    if (store.update != Update::kAssign)
      return IsFloat(type) ? kFloat : kInteger;
    // For each node that depends on the load of the element's old value: the
    // cycles from that load to the node's value.
    std::unordered_map<NodeId, double> since;
    for (NodeId id : loops::NodesUnder(pool_, {&store.value, 1})) {
      const Node& node = pool_[id];
      if (node.opcode == Opcode::kLoad && node.buffer == store.buffer) {
        since[id] = 0;
        continue;
      }
      double most = -1;
      for (NodeId operand : loops::OperandsOf(pool_, id)) {
        const auto found = since.find(operand);
        if (found != since.end()) most = std::max(most, found->second);
      }
      if (most < 0) continue;
      const DType of = pool_[node.operands.back()].type;
      const double cost = std::max(1.0, CostOf(KindOf(node.opcode, of), of));
      since[id] = most + cost * (IsFloat(of) ? kFloat : kInteger);
    }
    const auto found = since.find(store.value);
    return found == since.end() ? 0 : found->second;
  }

  const LoopTree& tree_;
  const Machine& machine_;
  const ExpressionPool& pool_;
  const Leaf& leaf_;
  BodyWork& body_;
  std::map<uint32_t, double>& tile_;
  std::vector<const TreeLoop*> chain_;
  LoopSet all_ = 0;
  std::unordered_map<NodeId, LoopSet> sets_;
  std::unordered_map<NodeId, bool> is_value_;
};

}  // namespace

std::vector<BodyWork> WorkOf(const LoopTree& tree, const Machine& machine) {
  std::vector<BodyWork> work(tree.loops().size());
  std::vector<std::map<uint32_t, double>> tiles(work.size());
  for (const Leaf& leaf : tree.leaves()) {
    const auto body = static_cast<size_t>(tree.CodeLoopOf(leaf.loop));
    LeafCounter(tree, machine, leaf, work[body], tiles[body]).Count();
  }
  for (size_t i = 0; i < work.size(); ++i) {
    for (const auto& [buffer, registers] : tiles[i])
      work[i].tile_registers += registers;
  }
  return work;
}

}  // namespace ember::tune
