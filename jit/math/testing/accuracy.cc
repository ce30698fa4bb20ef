#include "jit/math/testing/accuracy.h"

#include "base/check.h"
#include "jit/math/expand.h"
#include "tensor/scalar.h"

namespace ember::jit {

using tensor::NodeId;
using tensor::Opcode;

Expansion::Expansion(Opcode opcode, DType type,
                     std::optional<uint64_t> constant) {
  const bool is_binary = tensor::RegisterOperandCount(opcode) == 2;
  std::vector<NodeId> operands;
  for (uint32_t i = 0; i < 2; ++i) {
    // Each operand is a load, because the value of a load is not known when the
    // expression is built.
    const NodeId unknown = pool_.Intern(Opcode::kLoad, type, {}, 0, 1, i);
    position_of_.resize(unknown + 1);
    position_of_[unknown] = steps_.size();
    steps_.push_back({Opcode::kLoad, type, type, {}});
    values_.push_back(0);
    if (i == 0 || (is_binary && !constant)) operands.push_back(unknown);
  }
  if (constant) operands.push_back(pool_.Constant(*constant, type));
  root_ = Flatten(ExpandMath(pool_, opcode, type, operands));
}

size_t Expansion::Flatten(NodeId id) {
  if (position_of_.size() <= id) position_of_.resize(id + 1);
  if (position_of_[id]) return *position_of_[id];
  const tensor::Node& node = pool_[id];
  if (node.opcode == Opcode::kConstant && DTypeByteSize(node.type) < 8) {
    EMBER_CHECK(node.immediate >> (8 * DTypeByteSize(node.type)) == 0)
        << "a constant of " << DTypeName(node.type) << " has more bits";
  }
  Step step = {node.opcode, node.type, node.type, {}};
  for (size_t i = 0; i < node.operands.size(); ++i)
    step.operands[i] = Flatten(node.operands[i]);
  if (!node.operands.empty()) {
    // The step's operand type is that of the first operand, except for Select:
    // its first operand is the condition, which is a bool.
    step.operand_type =
        pool_[node.operands[node.opcode == Opcode::kSelect ? 1 : 0]].type;
  }
  position_of_[id] = steps_.size();
  steps_.push_back(step);
  values_.push_back(node.immediate);
  return *position_of_[id];
}

uint64_t Expansion::Evaluate(uint64_t a, uint64_t b) {
  values_[0] = a;
  values_[1] = b;
  for (size_t i = 2; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (step.opcode == Opcode::kConstant) continue;
    values_[i] = tensor::EvaluateScalar(
        step.opcode, step.operand_type, step.type,
        {values_[step.operands[0]], values_[step.operands[1]],
         values_[step.operands[2]]});
  }
  return values_[root_];
}

int Expansion::instruction_count() const {
  int count = 0;
  for (const Step& step : steps_) {
    count += step.opcode != Opcode::kLoad && step.opcode != Opcode::kConstant &&
             step.opcode != Opcode::kBitcast;
  }
  return count;
}

bool Expansion::Uses(DType type) const {
  for (const Step& step : steps_) {
    if (step.type == type || step.operand_type == type) return true;
  }
  return false;
}

bool Expansion::Uses(Opcode opcode) const {
  for (const Step& step : steps_) {
    if (step.opcode == opcode) return true;
  }
  return false;
}

}  // namespace ember::jit
