#include "jit/math/value.h"

#include <vector>

#include "base/check.h"
#include "tensor/scalar.h"
#include "tensor/simplify.h"

namespace ember::jit {

using tensor::Opcode;

Value Value::Number(double number) const {
  return Bits(tensor::DoubleToBits(number, type()));
}

Value Value::Bits(uint64_t bits) const {
  const int unused = 64 - 8 * DTypeByteSize(type());
  return Value(*pool_, pool_->Constant(bits << unused >> unused, type()));
}

Value Make(Opcode opcode, DType type, std::span<const Value> operands) {
  std::vector<tensor::NodeId> ids;
  for (const Value& operand : operands) ids.push_back(operand.id());
  tensor::ExpressionPool& pool = operands[0].pool();
  return Value(pool, tensor::Simplifier(pool).Make(opcode, type, ids));
}

Value Unary(Opcode opcode, Value a) {
  const Value operands[] = {a};
  return Make(opcode, a.type(), operands);
}

Value Binary(Opcode opcode, Value a, Value b) {
  const Value operands[] = {a, b};
  return Make(opcode, a.type(), operands);
}

Value Compare(Opcode opcode, Value a, Value b) {
  const Value operands[] = {a, b};
  return Make(opcode, DType::kBool, operands);
}

Value Select(Value condition, Value if_true, Value if_false) {
  const Value operands[] = {condition, if_true, if_false};
  return Make(Opcode::kSelect, if_true.type(), operands);
}

Value Select(Value condition, double if_true, Value if_false) {
  return Select(condition, if_false.Number(if_true), if_false);
}

Value Select(Value condition, Value if_true, double if_false) {
  return Select(condition, if_true, if_true.Number(if_false));
}

Value Cast(Value a, DType type) {
  const Value operands[] = {a};
  return Make(Opcode::kCast, type, operands);
}

Value AtMost(Value a, double limit) {
  return Select(limit < a, a.Number(limit), a);
}

Value AtLeast(Value a, double limit) {
  return Select(a < limit, a.Number(limit), a);
}

Value Polynomial(Value x, std::span<const double> coefficients) {
  Value sum = x.Number(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;)
    sum = sum * x + coefficients[i];
  return sum;
}

const FloatFormat& FormatOf(DType type) {
  static constexpr FloatFormat kF32 = {DType::kU32, 23,       127,
                                       0x80000000,  0x7fffff, 0xfffff000,
                                       0x1.8p23,    0x1p-126};
  static constexpr FloatFormat kF64 = {DType::kU64,
                                       52,
                                       1023,
                                       uint64_t{1} << 63,
                                       0xfffffffffffff,
                                       0xfffffffff8000000,
                                       0x1.8p52,
                                       0x1p-1022};
  EMBER_CHECK(type == DType::kF32 || type == DType::kF64);
  return type == DType::kF32 ? kF32 : kF64;
}

Value AsBits(Value x) {
  const Value operands[] = {x};
  return Make(Opcode::kBitcast, FormatOf(x).bits, operands);
}

Value AsFloat(Value bits) {
  const Value operands[] = {bits};
  return Make(Opcode::kBitcast,
              bits.type() == DType::kU32 ? DType::kF32 : DType::kF64, operands);
}

Value UpperHalf(Value x) { return AsFloat(AsBits(x) & FormatOf(x).upper); }

Value SignOf(Value x) { return AsBits(x) & FormatOf(x).sign; }

Value FlipSign(Value x, Value sign) { return AsFloat(AsBits(x) ^ sign); }

Value WithSign(Value magnitude, Value x) {
  return AsFloat(AsBits(magnitude) | SignOf(x));
}

}  // namespace ember::jit
