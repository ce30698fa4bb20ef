#include "jit/loops/raw.h"

#include <cmath>

#include "base/concat.h"

namespace ember::loops {

using tensor::BitsToInteger;
using tensor::EvaluateScalar;
using tensor::Opcode;
using tensor::ScalarOperands;

namespace {

int BitsOf(DType type) { return 8 * DTypeByteSize(type); }

// Returns the result for operands with an unspecified result: a value that is
// most likely wrong, so that tests notice code that relies on it.
uint64_t Unspecified(DType type) {
  return tensor::IntegerToBits(0x5bad5bad5bad5bad, type);
}

bool IsNan(uint64_t bits, DType type) {
  return EvaluateScalar(Opcode::kIsNan, type, DType::kBool, {bits}) != 0;
}

bool IsNegative(uint64_t bits, DType type) {
  return IsSigned(type) && BitsToInteger(bits, type) < 0;
}

StatusOr<uint64_t> Divide(Opcode opcode, DType type, ScalarOperands operands) {
  const std::string_view name = tensor::InfoOf(opcode).text;
  if (operands.b == 0)
    return InternalError(Concat({"raw ", name, ": expected no divisor of 0"}));
  if (opcode == Opcode::kFloorDivide || opcode == Opcode::kModulo) {
    if (IsNegative(operands.a, type) || IsNegative(operands.b, type))
      return Unspecified(type);
  } else if (BitsToInteger(operands.b, type) == -1 &&
             operands.a == tensor::SmallestBits(type)) {
    return InternalError(Concat({"raw ", name, ": the quotient has no bits"}));
  }
  return EvaluateScalar(opcode, type, type, operands);
}

// True if a cast of `bits` to `result` kept the value, except for the fraction
// of a float that is cast to an integer.
bool IsCastExact(DType from, DType to, uint64_t bits, uint64_t result) {
  if (IsFloat(to)) {
    if (IsNan(bits, from)) return true;
    return EvaluateScalar(Opcode::kCast, to, from, {result}) == bits;
  }
  if (!IsFloat(from)) {
    return IsNegative(bits, from) == IsNegative(result, to) &&
           BitsToInteger(bits, from) == BitsToInteger(result, to);
  }
  if (IsNan(bits, from)) return false;
  const double whole = std::trunc(tensor::BitsToDouble(bits, from));
  const double end = std::ldexp(1.0, BitsOf(to) - (IsSigned(to) ? 1 : 0));
  return whole < end && whole >= (IsSigned(to) ? -end : 0.0);
}

}  // namespace

bool HasRawForm(Opcode opcode, DType operand, DType result) {
  switch (opcode) {
    case Opcode::kDivide:
    case Opcode::kRemainder:
      return IsInteger(operand) && IsSigned(operand);
    case Opcode::kFloorDivide:
    case Opcode::kModulo:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRight:
      return IsInteger(operand);
    case Opcode::kMinimum:
    case Opcode::kMaximum:
      return IsFloat(operand);
    case Opcode::kCast:
      if (IsNarrowFloat(result)) return operand == DType::kF32;
      return IsInteger(result) && operand != DType::kBool;
    default:
      return false;
  }
}

StatusOr<uint64_t> EvaluateRaw(Opcode opcode, DType operand, DType result,
                               ScalarOperands operands) {
  switch (opcode) {
    case Opcode::kDivide:
    case Opcode::kRemainder:
    case Opcode::kFloorDivide:
    case Opcode::kModulo:
      return Divide(opcode, operand, operands);
    case Opcode::kShiftLeft:
    case Opcode::kShiftRight:
      if (IsNegative(operands.b, operand) ||
          operands.b >= static_cast<uint64_t>(BitsOf(operand)))
        return Unspecified(result);
      break;
    case Opcode::kMinimum:
    case Opcode::kMaximum:
      if (IsNan(operands.a, operand)) return operands.b;
      if (IsNan(operands.b, operand)) return operands.a;
      break;
    default:
      break;
  }
  const uint64_t value = EvaluateScalar(opcode, operand, result, operands);
  if (opcode == Opcode::kCast &&
      !IsCastExact(operand, result, operands.a, value))
    return Unspecified(result);
  return value;
}

}  // namespace ember::loops
