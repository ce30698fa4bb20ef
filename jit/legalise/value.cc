#include "jit/legalise/value.h"

#include <vector>

#include "tensor/scalar.h"

namespace ember::jit::legalise {

Value Constant(Legaliser& legaliser, uint64_t bits, DType type) {
  return Value(legaliser, legaliser.Constant(bits, type));
}

Value Value::Integer(int64_t value) const {
  return Constant(*legaliser_, tensor::IntegerToBits(value, type()), type());
}

Value Value::Number(double value) const {
  return Constant(*legaliser_, tensor::DoubleToBits(value, type()), type());
}

Value Apply(Opcode opcode, DType type, std::initializer_list<Value> operands) {
  std::vector<NodeId> ids;
  for (const Value& operand : operands) ids.push_back(operand.id());
  Legaliser& legaliser = operands.begin()->legaliser();
  return Value(legaliser, legaliser.Make({opcode, type, ids}));
}

Value Raw(Opcode opcode, Value a, Value b) {
  return Value(a.legaliser(),
               a.legaliser().Make({opcode, a.type(), {a.id(), b.id()}, true}));
}

Value RawCast(Value a, DType type) {
  return Value(a.legaliser(),
               a.legaliser().Make({Opcode::kCast, type, {a.id()}, true}));
}

}  // namespace ember::jit::legalise
