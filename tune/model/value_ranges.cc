#include "tune/model/value_ranges.h"

#include <algorithm>
#include <unordered_map>

#include "jit/loops/walk.h"
#include "tensor/range_rules.h"

namespace ember::tune {
namespace {

using loops::NodeId;
using tensor::Interval;
using tensor::Node;
using tensor::Opcode;

class Evaluation {
 public:
  Evaluation(const loops::LoopNest& nest, std::span<const int64_t> parameters,
             const ValueRanges::Iterates& iterates)
      : nest_(nest), parameters_(parameters), iterates_(iterates) {}

  Interval Of(NodeId root) {
    for (NodeId id : loops::NodesUnder(nest_.pool, {&root, 1})) {
      if (ranges_.contains(id)) continue;
      // The range of a loop variable needs the range of its extent, which
      // Compute evaluates by another call.
      const Interval range = Compute(id);
      ranges_.emplace(id, tensor::Intersect(range, nest_.pool[id].range));
    }
    return ranges_.at(root);
  }

 private:
  Interval Compute(NodeId id) {
    const Node& node = nest_.pool[id];
    switch (node.opcode) {
      case Opcode::kConstant:
        return tensor::RangeOfConstant(node.immediate, node.type);
      case Opcode::kParameter:
        if (node.immediate < parameters_.size())
          return Interval::Of(parameters_[node.immediate]);
        return tensor::RangeOfType(node.type);
      case Opcode::kAxis:
        if (iterates_ != nullptr && !iterates_(id)) return Interval::Of(0);
        return {0, std::max<int64_t>(Of(node.operands[0]).high, 1) - 1};
      case Opcode::kLoad:
      case Opcode::kPad:
        return tensor::RangeOfType(node.type);
      default:
        break;
    }
    Interval operands[3];
    for (size_t i = 0; i < node.operands.size() && i < 3; ++i)
      operands[i] = ranges_.at(node.operands[i]);
    const DType operand_type =
        node.operands.empty() ? node.type : nest_.pool[node.operands[0]].type;
    return tensor::RangeOfResult(node.opcode, operand_type, node.type,
                                 operands[0], operands[1], operands[2]);
  }

  const loops::LoopNest& nest_;
  const std::span<const int64_t> parameters_;
  const ValueRanges::Iterates& iterates_;
  std::unordered_map<NodeId, Interval> ranges_;
};

}  // namespace

Interval ValueRanges::Of(NodeId value) const { return Of(value, nullptr); }

Interval ValueRanges::Of(NodeId value, const Iterates& iterates) const {
  return Evaluation(nest_, parameters_, iterates).Of(value);
}

}  // namespace ember::tune
