#include "jit/backend/formula_builder.h"

#include <algorithm>

#include "base/check.h"
#include "tensor/scalar.h"

namespace ember::jit {

using tensor::Instruction;
using tensor::NodeId;
using tensor::Opcode;

uint32_t FormulaBuilder::Add(NodeId root) {
  std::vector<NodeId> stack = {root};
  while (!stack.empty()) {
    const NodeId id = stack.back();
    const tensor::Node& node = pool_[id];
    bool is_ready = true;
    for (const NodeId operand : node.operands) {
      if (done_.contains(operand)) continue;
      stack.push_back(operand);
      is_ready = false;
    }
    if (!is_ready) continue;
    stack.pop_back();
    if (!done_.contains(id)) Append(id, node);
  }
  return done_.at(root);
}

void FormulaBuilder::Append(NodeId id, const tensor::Node& node) {
  EMBER_CHECK(node.opcode != Opcode::kAxis && node.opcode != Opcode::kLoad &&
              node.operands.size() <= 3)
      << "a value of the header depends on a loop";
  Instruction in{
      .opcode = node.opcode, .type = node.type, .immediate = node.immediate};
  uint32_t* const operands[3] = {&in.a, &in.b, &in.c};
  for (size_t i = 0; i < node.operands.size(); ++i)
    *operands[i] = done_.at(node.operands[i]);
  done_[id] = Find(in);
}

uint32_t FormulaBuilder::Find(const Instruction& in) {
  const auto found = std::ranges::find(formulas_, in);
  const auto number = static_cast<uint32_t>(found - formulas_.begin());
  if (found == formulas_.end()) formulas_.push_back(in);
  return number;
}

uint32_t FormulaBuilder::Constant(int64_t value) {
  return Find({.opcode = Opcode::kConstant,
               .type = DType::kI64,
               .immediate = static_cast<uint64_t>(value)});
}

uint32_t FormulaBuilder::Parameter(size_t number) {
  return Find(
      {.opcode = Opcode::kParameter, .type = DType::kI64, .immediate = number});
}

std::optional<int64_t> FormulaBuilder::ConstantOf(uint32_t formula) const {
  const Instruction& in = formulas_[formula];
  if (in.opcode != Opcode::kConstant || in.type != DType::kI64)
    return std::nullopt;
  return static_cast<int64_t>(in.immediate);
}

uint32_t FormulaBuilder::Apply(Opcode opcode, uint32_t a, uint32_t b) {
  const auto x = ConstantOf(a), y = ConstantOf(b);
  if (x && y) {
    return Constant(static_cast<int64_t>(tensor::EvaluateScalar(
        opcode, DType::kI64, DType::kI64,
        {static_cast<uint64_t>(*x), static_cast<uint64_t>(*y), 0})));
  }
  return Find({.opcode = opcode, .type = DType::kI64, .a = a, .b = b});
}

uint32_t FormulaBuilder::IfLess(uint32_t x, uint32_t y, uint32_t a,
                                uint32_t b) {
  const uint32_t is_less =
      Find({.opcode = Opcode::kLess, .type = DType::kBool, .a = x, .b = y});
  return Find({.opcode = Opcode::kSelect,
               .type = DType::kI64,
               .a = is_less,
               .b = a,
               .c = b});
}

}  // namespace ember::jit
