
#include "jit/schedule/lowering/plan_prefetches.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "base/rounding.h"
#include "jit/loops/walk.h"
#include "tensor/builder/linear.h"
#include "tensor/builder/simplify.h"

namespace ember::schedule {
namespace {

using loops::Block;
using loops::LoopKind;
using loops::MemoryScope;
using loops::Statement;
using tensor::NodeId;
using tensor::Opcode;

// Smallest size in bytes of a constant that is prefetched. Smaller ones stay in
// a cache, or are loaded quickly.
constexpr int64_t kLeastBytes = int64_t{256} << 10;
constexpr int64_t kLineBytes = 64;
// Largest number of cache lines that are prefetched in an iteration of the
// innermost serial loop, which may be several steps of the sum.
constexpr int64_t kMaxLines = 4;

class PrefetchPlanner {
 public:
  explicit PrefetchPlanner(loops::LoopNest& nest) : nest_(nest) {}

  void Run() {
    for (loops::Phase& phase : nest_.phases) {
      loops_ = {phase.task};
      Visit(phase.body);
    }
  }

 private:
  // Adds prefetches to the innermost serial loops of the block. Returns true if
  // it contains a serial loop or an invocation loop.
  bool Visit(Block& block) {
    bool has_serial = false;
    for (Statement& statement : block) {
      if (statement.kind != Statement::Kind::kFor) {
        has_serial |= Visit(statement.body);
        continue;
      }
      // No prefetches are added in invocation loops: many invocations hide the
      // latency of memory already.
      if (loops::IsInvocationLoop(statement)) return true;
      const bool is_serial = statement.loop == LoopKind::kSerial;
      if (is_serial) loops_.push_back(statement.variable);
      const bool is_innermost = !Visit(statement.body);
      if (is_serial && is_innermost) Plan(statement.body);
      if (is_serial) loops_.pop_back();
      has_serial |= is_serial || !is_innermost;
    }
    return has_serial;
  }

  void Plan(Block& body) {
    std::vector<NodeId> loads;
    CollectLoads(body, loads);
    std::set<uint32_t> seen;
    for (NodeId load : loads) {
      const uint32_t buffer = nest_.pool[load].buffer;
      if (!seen.insert(buffer).second) continue;
      for (NodeId index : NextOf(load)) {
        Statement prefetch;
        prefetch.kind = Statement::Kind::kPrefetch;
        prefetch.buffer = buffer;
        prefetch.index = index;
        body.insert(body.begin(), std::move(prefetch));
      }
    }
  }

  // Collects the loads from packed buffers in statements that update their
  // element, that is, in reductions.
  void CollectLoads(const Block& block, std::vector<NodeId>& loads) const {
    for (const Statement& statement : block) {
      CollectLoads(statement.body, loads);
      for (const loops::Store& store : statement.stores) {
        if (store.update == tensor::Update::kAssign) continue;
        for (NodeId node : loops::NodesUnder(nest_.pool, {&store.value, 1})) {
          const tensor::Node& at = nest_.pool[node];
          if (at.opcode == Opcode::kLoad &&
              nest_.buffers[at.buffer].scope == MemoryScope::kPacked) {
            loads.push_back(node);
          }
        }
      }
    }
  }

  // Returns the number of elements in the dims of the buffer from `first` on;
  // nullopt if it is 0, not constant or above 2^40.
  std::optional<int64_t> Elements(const loops::Buffer& buffer,
                                  size_t first) const {
    int64_t elements = 1;
    for (size_t d = first; d < buffer.extents.size(); ++d) {
      const std::optional<int64_t> extent =
          nest_.pool.IntegerConstant(buffer.extents[d]);
      if (!extent || *extent < 1 || *extent > (int64_t{1} << 40) / elements)
        return std::nullopt;
      elements *= *extent;
    }
    return elements;
  }

  // Returns the numbers of the elements that an iteration of the innermost loop
  // prefetches, one per cache line; empty if the loaded buffer is small or
  // nothing is known about its panels.
  std::vector<NodeId> NextOf(NodeId load) {
    const loops::Buffer& buffer = nest_.buffers[nest_.pool[load].buffer];
    const int64_t bytes = DTypeByteSize(buffer.type);
    if (buffer.extents.size() < 2) return {};
    const std::optional<int64_t> total = Elements(buffer, 0);
    const std::optional<int64_t> size = Elements(buffer, 1);
    if (!total || !size || *total * bytes < kLeastBytes) return {};
    const NodeId panel = nest_.pool[load].operands[0];
    // `steps`: number of iterations of the innermost loop during which one
    // panel is used. `step`: the number of the current one of these iterations.
    int64_t steps = 1;
    NodeId step = nest_.pool.Integer(0);
    const auto add_digit = [&](NodeId digit, int64_t extent) {
      step = Make(Opcode::kAdd,
                  Make(Opcode::kMultiply, step, nest_.pool.Integer(extent)),
                  digit);
      steps *= extent;
    };
    if (nest_.pool[panel].opcode == Opcode::kFloorDivide) {
      const NodeId tiles = nest_.pool[panel].operands[0];
      const NodeId count = nest_.pool[panel].operands[1];
      const std::optional<int64_t> extent = nest_.pool.IntegerConstant(count);
      if (!extent || *extent < 1) return {};
      add_digit(Make(Opcode::kModulo, tiles, count), *extent);
    }
    const std::optional<size_t> moving = InnermostLoopOf(panel);
    if (!moving) return {};
    for (size_t i = *moving + 1; i < loops_.size(); ++i) {
      const std::optional<int64_t> extent =
          nest_.pool.IntegerConstant(loops::ExtentOf(nest_.pool, loops_[i]));
      if (!extent || *extent < 1 || steps > (int64_t{1} << 40) / *extent)
        return {};
      add_digit(loops_[i], *extent);
    }
    const int64_t share = DivideRoundingUp(*size, steps);
    const int64_t lines = DivideRoundingUp(share * bytes, kLineBytes);
    if (lines > kMaxLines) return {};
    NodeId offset = Make(Opcode::kMultiply, step, nest_.pool.Integer(share));
    if (steps * share > *size + *size / 4)
      offset = Make(Opcode::kMinimum, offset, nest_.pool.Integer(*size));
    const NodeId next = Make(Opcode::kMultiply,
                             Make(Opcode::kAdd, panel, nest_.pool.Integer(1)),
                             nest_.pool.Integer(*size));
    std::vector<NodeId> numbers;
    for (int64_t line = 0; line < lines; ++line) {
      const NodeId first = Make(Opcode::kAdd, offset,
                                nest_.pool.Integer(line * kLineBytes / bytes));
      numbers.push_back(Make(Opcode::kAdd, next, first));
    }
    return numbers;
  }

  // Returns the innermost surrounding loop whose variable the expression
  // contains; nullopt if there is none.
  std::optional<size_t> InnermostLoopOf(NodeId expression) const {
    const std::vector<NodeId> nodes =
        loops::NodesUnder(nest_.pool, {&expression, 1});
    for (size_t i = loops_.size(); i-- > 0;) {
      if (std::find(nodes.begin(), nodes.end(), loops_[i]) != nodes.end())
        return i;
    }
    return std::nullopt;
  }

  NodeId Make(Opcode opcode, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return tensor::Simplifier(nest_.pool).Make(opcode, DType::kI64, operands);
  }

  loops::LoopNest& nest_;
  std::vector<NodeId> loops_;  // variables of the surrounding serial loops,
                               // outermost first
};

}  // namespace

void PlanPrefetches(loops::LoopNest& nest) { PrefetchPlanner(nest).Run(); }

}  // namespace ember::schedule
