#include "jit/kernel/header_values.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "tensor/scalar.h"

namespace ember::jit {

using tensor::NodeId;
using tensor::Opcode;

HeaderValues::HeaderValues(const tensor::ExpressionPool& pool,
                           std::span<const NodeId> nodes) {
  std::unordered_map<NodeId, uint32_t> done;
  for (NodeId root : nodes) {
    std::vector<NodeId> stack = {root};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      const tensor::Node& node = pool[id];
      if (done.contains(id)) {
        stack.pop_back();
        continue;
      }
      EMBER_CHECK(node.opcode != Opcode::kAxis && node.opcode != Opcode::kLoad)
          << "a value of the header depends on a loop";
      bool ready = true;
      for (NodeId operand : node.operands) {
        if (done.contains(operand)) continue;
        stack.push_back(operand);
        ready = false;
      }
      if (!ready) continue;
      Step step{node.opcode, node.type, node.type, node.immediate, {0, 0, 0}};
      for (size_t i = 0; i < node.operands.size(); ++i)
        step.operands[i] = done.at(node.operands[i]);
      if (!node.operands.empty())
        step.operand_type = pool[node.operands[0]].type;
      done[id] = static_cast<uint32_t>(steps_.size());
      steps_.push_back(step);
      stack.pop_back();
    }
    results_.push_back(done.at(root));
  }
}

std::vector<int64_t> HeaderValues::Evaluate(
    std::span<const int64_t> parameters) const {
  std::vector<uint64_t> values(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    switch (step.opcode) {
      case Opcode::kConstant:
        values[i] = step.immediate;
        break;
      case Opcode::kParameter:
        values[i] = static_cast<uint64_t>(parameters[step.immediate]);
        break;
      default:
        values[i] = tensor::EvaluateScalar(
            step.opcode, step.operand_type, step.type,
            {values[step.operands[0]], values[step.operands[1]],
             values[step.operands[2]]});
    }
  }
  std::vector<int64_t> results;
  for (uint32_t result : results_)
    results.push_back(static_cast<int64_t>(values[result]));
  return results;
}

}  // namespace ember::jit
