#include "jit/math/term.h"

#include <vector>

#include "base/check.h"
#include "tensor/builder/simplify.h"
#include "tensor/scalar.h"

namespace ember::jit {

using tensor::Opcode;

Term Term::Number(double number) const {
  return Bits(tensor::DoubleToBits(number, type()));
}

Term Term::Bits(uint64_t bits) const {
  const int unused = 64 - 8 * DTypeByteSize(type());
  return Term(*pool_, pool_->Constant(bits << unused >> unused, type()));
}

Term Make(Opcode opcode, DType type, std::span<const Term> operands) {
  std::vector<tensor::NodeId> ids;
  for (const Term& operand : operands) ids.push_back(operand.id());
  tensor::ExpressionPool& pool = operands[0].pool();
  return Term(pool, tensor::Simplifier(pool).Make(opcode, type, ids));
}

Term Unary(Opcode opcode, Term a) {
  const Term operands[] = {a};
  return Make(opcode, a.type(), operands);
}

Term Binary(Opcode opcode, Term a, Term b) {
  const Term operands[] = {a, b};
  return Make(opcode, a.type(), operands);
}

Term Compare(Opcode opcode, Term a, Term b) {
  const Term operands[] = {a, b};
  return Make(opcode, DType::kBool, operands);
}

Term Select(Term condition, Term if_true, Term if_false) {
  const Term operands[] = {condition, if_true, if_false};
  return Make(Opcode::kSelect, if_true.type(), operands);
}

Term Select(Term condition, double if_true, Term if_false) {
  return Select(condition, if_false.Number(if_true), if_false);
}

Term Select(Term condition, Term if_true, double if_false) {
  return Select(condition, if_true, if_true.Number(if_false));
}

Term Cast(Term a, DType type) {
  const Term operands[] = {a};
  return Make(Opcode::kCast, type, operands);
}

Term AtMost(Term a, double limit) {
  return Select(limit < a, a.Number(limit), a);
}

Term AtLeast(Term a, double limit) {
  return Select(a < limit, a.Number(limit), a);
}

Term Polynomial(Term x, std::span<const double> coefficients) {
  Term sum = x.Number(coefficients.back());
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

Term AsBits(Term x) {
  const Term operands[] = {x};
  return Make(Opcode::kBitcast, FormatOf(x).bits, operands);
}

Term AsFloat(Term bits) {
  const Term operands[] = {bits};
  return Make(Opcode::kBitcast,
              bits.type() == DType::kU32 ? DType::kF32 : DType::kF64, operands);
}

Term UpperHalf(Term x) { return AsFloat(AsBits(x) & FormatOf(x).upper); }

Term SignOf(Term x) { return AsBits(x) & FormatOf(x).sign; }

Term FlipSign(Term x, Term sign) { return AsFloat(AsBits(x) ^ sign); }

Term WithSign(Term magnitude, Term x) {
  return AsFloat(AsBits(magnitude) | SignOf(x));
}

}  // namespace ember::jit
