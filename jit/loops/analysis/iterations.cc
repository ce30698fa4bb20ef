#include "jit/loops/analysis/iterations.h"

#include <algorithm>
#include <unordered_map>

#include "jit/loops/walk.h"
#include "tensor/range_rules.h"

namespace ember::loops {
namespace {

using tensor::Interval;
using tensor::Node;
using tensor::Opcode;

constexpr int64_t kMany = int64_t{1} << 40;

class Counter {
 public:
  Counter(const LoopNest& nest, std::span<const int64_t> parameters)
      : nest_(nest), parameters_(parameters) {}

  // Numbers of iterations that a block takes. `on`: for an invocation that runs
  // the block. `off`: for an invocation that is masked off but is a lane of the
  // same vector as others that run the block.
  struct IterationCounts {
    int64_t on = 0, off = 0;
  };

  IterationCounts Count(const Block& block) {
    IterationCounts total;
    for (const Statement& statement : block) {
      IterationCounts inside = Count(statement.body);
      if (statement.kind == Statement::Kind::kFor) {
        const int64_t times = std::clamp<int64_t>(
            RangeOf(ExtentOf(nest_.pool, statement.variable)).high, 0, kMany);
        if (statement.loop == LoopKind::kSerial) {
          const int64_t leaving = inside.off + 1;
          inside = {Times(times, inside.on + 1) + leaving, leaving};
        } else if (!IsInvocationLoop(statement)) {
          inside = {Times(times, inside.on), Times(times, inside.off)};
        }
      }
      total = {std::min(total.on + inside.on, kMany),
               std::min(total.off + inside.off, kMany)};
    }
    return total;
  }

 private:
  static int64_t Times(int64_t a, int64_t b) {
    int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? kMany
                                                  : std::min(product, kMany);
  }

  // Returns the range of an integer expression without loads.
  Interval RangeOf(NodeId root) {
    for (NodeId id : NodesUnder(nest_.pool, {&root, 1})) {
      if (ranges_.contains(id)) continue;
      const Node& node = nest_.pool[id];
      const Interval noted = node.range;
      Interval range = Compute(node);
      range = {std::max(range.low, noted.low),
               std::min(range.high, noted.high)};
      ranges_.emplace(id, range);
    }
    return ranges_.at(root);
  }

  Interval Compute(const Node& node) {
    switch (node.opcode) {
      case Opcode::kConstant:
        return tensor::RangeOfConstant(node.immediate, node.type);
      case Opcode::kParameter:
        if (node.immediate < parameters_.size()) {
          const int64_t value = parameters_[node.immediate];
          return {value, value};
        }
        return tensor::RangeOfType(node.type);
      case Opcode::kAxis: {
        const Interval extent = RangeOf(node.operands[0]);
        return {0, std::max<int64_t>(extent.high, 1) - 1};
      }
      case Opcode::kLoad:
      case Opcode::kPad:
        return tensor::RangeOfType(node.type);
      default:
        break;
    }
    Interval operands[3];
    for (size_t i = 0; i < node.operands.size() && i < 3; ++i)
      operands[i] = ranges_.at(node.operands[i]);
    return tensor::RangeOfResult(node.opcode, nest_.pool[node.operands[0]].type,
                                 node.type, operands[0], operands[1],
                                 operands[2]);
  }

  const LoopNest& nest_;
  const std::span<const int64_t> parameters_;
  std::unordered_map<NodeId, Interval> ranges_;
};

}  // namespace

int64_t MostIterations(const LoopNest& nest, const Block& block,
                       std::span<const int64_t> parameters) {
  return Counter(nest, parameters).Count(block).on;
}

}  // namespace ember::loops
