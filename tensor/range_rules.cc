#include "tensor/range_rules.h"

#include <algorithm>
#include <bit>

#include "tensor/scalar.h"

namespace ember::tensor {
namespace {

// True if all values of the range are numbers of bits by which every integer
// type can be shifted.
bool IsShift(Interval count) { return count.Within({0, 7}); }

// Returns the largest number that has no more bits than the largest value of
// both ranges. The values must not be negative.
int64_t AllBitsOf(Interval a, Interval b) {
  const auto high = static_cast<uint64_t>(std::max(a.high, b.high));
  return static_cast<int64_t>((uint64_t{1} << std::bit_width(high)) - 1);
}

// Returns the range of the instruction's exact result, before it wraps to its
// type.
Interval ExactRange(Opcode opcode, Interval a, Interval b, Interval c) {
  switch (opcode) {
    case Opcode::kAdd:
      return a + b;
    case Opcode::kSubtract:
      return a - b;
    case Opcode::kMultiply:
      return a * b;
    case Opcode::kNegate:
      return Interval::Of(0) - a;
    case Opcode::kFloorDivide:
      return FloorDivide(a, b);
    case Opcode::kDivide:
      return a.low >= 0 ? FloorDivide(a, b) : Interval::Full();
    case Opcode::kModulo:
      return Modulo(a, b);
    case Opcode::kRemainder:
      return a.low >= 0 ? Modulo(a, b) : Interval::Full();
    case Opcode::kMinimum:
      return Minimum(a, b);
    case Opcode::kMaximum:
      return Maximum(a, b);
    case Opcode::kSelect:
      return Union(b, c);
    case Opcode::kAbsolute:
      return a.low >= 0 ? a : Maximum(a, Interval::Of(0) - a);
    case Opcode::kSign:
      return {a.low > 0    ? 1
              : a.low == 0 ? 0
                           : -1,
              a.high < 0    ? -1
              : a.high == 0 ? 0
                            : 1};
    case Opcode::kAnd:
      return a.low >= 0 && b.low >= 0 ? Interval{0, Minimum(a, b).high}
                                      : Interval::Full();
    case Opcode::kOr:
      if (a.low < 0 || b.low < 0) return Interval::Full();
      return {std::max(a.low, b.low), AllBitsOf(a, b)};
    case Opcode::kXor:
      if (a.low < 0 || b.low < 0) return Interval::Full();
      return {0, AllBitsOf(a, b)};
    case Opcode::kShiftLeft:
      if (a.low < 0 || a.high > INT32_MAX || !IsShift(b))
        return Interval::Full();
      return {a.low << b.low, a.high << b.high};
    case Opcode::kShiftRight:
      if (a.low < 0 || !IsShift(b)) return Interval::Full();
      return {a.low >> b.high, a.high >> b.low};
    default:
      return Interval::Full();
  }
}

}  // namespace

Interval RangeOfType(DType type) {
  if (IsFloat(type) || type == DType::kU64 || type == DType::kI64)
    return Interval::Full();
  if (type == DType::kBool) return {0, 1};
  const int bits = 8 * DTypeByteSize(type);
  if (!IsSigned(type)) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

Interval RangeOfConstant(uint64_t bits, DType type) {
  if (IsFloat(type)) return Interval::Full();
  const int64_t value = BitsToInteger(bits, type);
  return type == DType::kU64 && value < 0 ? Interval::Full()
                                          : Interval::Of(value);
}

Interval RangeOfResult(Opcode opcode, DType operand_type, DType result_type,
                       Interval a, Interval b, Interval c) {
  const Interval all = RangeOfType(result_type);
  if (IsFloat(result_type) || result_type == DType::kU64) return all;
  if (InfoOf(opcode).group == InstructionGroup::kStructural) {
    if (opcode == Opcode::kSelect) return Union(b, c);
    const bool exact = opcode == Opcode::kCast && !IsFloat(operand_type) &&
                       operand_type != DType::kU64 && a.Within(all) &&
                       result_type != DType::kBool;
    return exact ? a : all;
  }
  // Only classifications and comparisons have another result type than operand
  // type here; their result may be any bool.
  if (operand_type != result_type) return all;
  const Interval exact = ExactRange(opcode, a, b, c);
  return exact.Within(all) ? exact : all;
}

}  // namespace ember::tensor
