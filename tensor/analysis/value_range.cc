#include "tensor/analysis/value_range.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/float_format.h"
#include "tensor/scalar.h"

namespace ember::tensor {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Largest magnitude up to which all integers are exact as doubles.
constexpr double kLargestExact = 9007199254740992.0;
// Number of roundings that are allowed for one arithmetic operation, because an
// executor may fuse it with another one or not.
constexpr double kArithmeticRoundings = 2;

// Returns a number such that executors may replace any value of smaller
// magnitude by zero. It is the smallest normal number of the type in which the
// arithmetic is done, or the smallest positive number of `type` if that is
// larger. (An f16 subnormal is a normal f32.)
double SmallestNormal(DType type) {
  if (type == DType::kF64) return std::numeric_limits<double>::min();
  const double least = IsNarrowFloat(type) ? BitsToDouble(1, type) : 0;
  return std::max<double>(least, std::numeric_limits<float>::min());
}

double LargestFinite(DType type) {
  return BitsToDouble(LargestFiniteBits(type), type);
}

double LowestInteger(DType type) {
  return type == DType::kBool ? 0 : BitsToDouble(SmallestBits(type), type);
}
double HighestInteger(DType type) {
  return type == DType::kBool ? 1 : BitsToDouble(LargestBits(type), type);
}

// Returns a range that contains the results of rounding real numbers from `low`
// to `high` up to `roundings` times.
ValueRange Rounded(double low, double high, double roundings, DType type) {
  if (std::isnan(low) || std::isnan(high)) return ValueRange::Unknown();
  const double relative = roundings * RoundingError(type);
  const double tiny = SmallestNormal(type);
  low -= std::isinf(low) ? 0 : relative * std::abs(low) + tiny;
  high += std::isinf(high) ? 0 : relative * std::abs(high) + tiny;
  const double most = LargestFinite(type);
  if (!FloatFormatOf(type).has_infinity() && (low < -most || high > most))
    // In a type without infinity, a result that is too large becomes NaN.
    return ValueRange::Unknown();
  if (low < -most) low = -kInfinity;
  if (high > most) high = kInfinity;
  return ValueRange::Between(low, high, type);
}

// --- ranges of real results, from the ends of the operands' ranges ---

struct Ends {
  double low = 0, high = 0;
};

template <typename Function>
Ends Increasing(const ValueRange& a, Function function) {
  return {function(a.low), function(a.high)};
}

// Returns the range of a function that is monotonic in each operand, from its
// values at the corners of the operands' ranges.
template <typename Function>
Ends Corners(const ValueRange& a, const ValueRange& b, Function function) {
  const double values[] = {function(a.low, b.low), function(a.low, b.high),
                           function(a.high, b.low), function(a.high, b.high)};
  Ends ends = {values[0], values[0]};
  for (const double value : values) {
    if (std::isnan(value)) return {value, value};
    ends.low = std::min(ends.low, value);
    ends.high = std::max(ends.high, value);
  }
  return ends;
}

constexpr Ends kNothing = {std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::quiet_NaN()};

bool ContainsZero(const ValueRange& a) { return a.low <= 0 && a.high >= 0; }

// Returns the range of sine or cosine over an interval, from the value in the
// middle: their slope is at most 1, so a value differs from it by at most half
// of the interval's length.
template <typename Function>
Ends NoSteeper(const ValueRange& a, Function function) {
  if (std::isinf(a.magnitude())) return kNothing;
  const double half = (a.high - a.low) / 2;
  const double middle = function(a.low + half);
  return {std::max(-1.0, middle - half), std::min(1.0, middle + half)};
}

Ends Powers(const ValueRange& a, const ValueRange& b) {
  const auto power = [](double x, double y) { return std::pow(x, y); };
  if (a.low > 0) return Corners(a, b, power);
  if (b.low != b.high || b.low != std::trunc(b.low) || b.low < 0)
    return kNothing;
  Ends ends = Corners(a, b, power);
  if (b.low > 0 && ContainsZero(a) && std::fmod(b.low, 2) == 0) ends.low = 0;
  return ends;
}

Ends Tangents(const ValueRange& a) {
  const Ends ends = Increasing(a, [](double x) { return std::tan(x); });
  return a.high - a.low < 1 && ends.low <= ends.high ? ends : kNothing;
}

Ends HyperbolicCosines(const ValueRange& a) {
  const double least =
      ContainsZero(a) ? 0 : std::min(std::abs(a.low), std::abs(a.high));
  return {std::cosh(least), std::cosh(a.magnitude())};
}

Ends Angles(const ValueRange& a, const ValueRange& b) {
  const bool is_one = a.low == a.high && b.low == b.high;
  if (b.low <= 0 && ContainsZero(a) && !is_one) return kNothing;
  return Corners(a, b, [](double y, double x) { return std::atan2(y, x); });
}

// Returns the range of the exact results of a transcendental function; kNothing
// if it is not known.
Ends EndsOfFunction(Opcode opcode, const ValueRange& a, const ValueRange& b) {
  switch (opcode) {
    case Opcode::kSqrt:
      return Increasing(a, [](double x) { return std::sqrt(x); });
    case Opcode::kExp:
      return Increasing(a, [](double x) { return std::exp(x); });
    case Opcode::kLog:
      return Increasing(a, [](double x) { return std::log(x); });
    case Opcode::kLog1p:
      return Increasing(a, [](double x) { return std::log1p(x); });
    case Opcode::kExpm1:
      return Increasing(a, [](double x) { return std::expm1(x); });
    case Opcode::kSin:
      return NoSteeper(a, [](double x) { return std::sin(x); });
    case Opcode::kCos:
      return NoSteeper(a, [](double x) { return std::cos(x); });
    case Opcode::kTan:
      return Tangents(a);
    case Opcode::kAsin:
      return Increasing(a, [](double x) { return std::asin(x); });
    case Opcode::kAcos:
      return {std::acos(a.high), std::acos(a.low)};
    case Opcode::kAtan:
      return Increasing(a, [](double x) { return std::atan(x); });
    case Opcode::kSinh:
      return Increasing(a, [](double x) { return std::sinh(x); });
    case Opcode::kCosh:
      return HyperbolicCosines(a);
    case Opcode::kTanh:
      return Increasing(a, [](double x) { return std::tanh(x); });
    case Opcode::kAsinh:
      return Increasing(a, [](double x) { return std::asinh(x); });
    case Opcode::kAcosh:
      return Increasing(a, [](double x) { return std::acosh(x); });
    case Opcode::kAtanh:
      return Increasing(a, [](double x) { return std::atanh(x); });
    case Opcode::kErf:
      return Increasing(a, [](double x) { return std::erf(x); });
    case Opcode::kPower:
      return Powers(a, b);
    case Opcode::kAtan2:
      return Angles(a, b);
    default:
      return kNothing;
  }
}

// Returns the range of exact sums, differences, products or quotients of real
// numbers; kNothing for other instructions, and for quotients if the divisor
// may be 0.
Ends EndsOfArithmetic(Opcode opcode, const ValueRange& a, const ValueRange& b) {
  switch (opcode) {
    case Opcode::kAdd:
      return {a.low + b.low, a.high + b.high};
    case Opcode::kSubtract:
      return {a.low - b.high, a.high - b.low};
    case Opcode::kMultiply:
      return Corners(a, b, [](double x, double y) { return x * y; });
    case Opcode::kDivide:
      if (ContainsZero(b)) return kNothing;
      return Corners(a, b, [](double x, double y) { return x / y; });
    default:
      return kNothing;
  }
}

// Returns the range of an instruction that does not round and has the same
// meaning for floats and integers; nullopt for other instructions.
std::optional<Ends> EndsWithoutRounding(Opcode opcode, const ValueRange& a,
                                        const ValueRange& b) {
  const auto minimum = [](double x, double y) { return std::min(x, y); };
  const auto maximum = [](double x, double y) { return std::max(x, y); };
  const auto sign = [](double x) { return double(x > 0) - double(x < 0); };
  switch (opcode) {
    case Opcode::kNegate:
      return Ends{-a.high, -a.low};
    case Opcode::kAbsolute:
      return Ends{
          ContainsZero(a) ? 0 : std::min(std::abs(a.low), std::abs(a.high)),
          a.magnitude()};
    case Opcode::kSign:
      return Increasing(a, sign);
    case Opcode::kFloor:
      return Increasing(a, [](double x) { return std::floor(x); });
    case Opcode::kCeil:
      return Increasing(a, [](double x) { return std::ceil(x); });
    case Opcode::kRound:
      return Increasing(a, [](double x) { return std::nearbyint(x); });
    case Opcode::kTruncate:
      return Increasing(a, [](double x) { return std::trunc(x); });
    case Opcode::kMinimum:
      return Corners(a, b, minimum);
    case Opcode::kMaximum:
      return Corners(a, b, maximum);
    default:
      return std::nullopt;
  }
}

// Returns the range of the remainders if the divisor is a single positive
// number; kNothing otherwise.
Ends Remainders(Opcode opcode, const ValueRange& a, const ValueRange& b) {
  if (b.low != b.high || b.low <= 0 || std::isinf(a.magnitude()))
    return kNothing;
  const double divisor = b.low;
  const bool floors = opcode == Opcode::kModulo;
  const auto quotient = [&](double x) {
    return floors ? std::floor(x / divisor) : std::trunc(x / divisor);
  };
  if (quotient(a.low) == quotient(a.high) &&
      (floors || a.low >= 0 || a.high <= 0)) {
    return Increasing(a, [&](double x) { return x - quotient(x) * divisor; });
  }
  return {floors || a.low >= 0 ? 0 : -divisor,
          a.high <= 0 && !floors ? 0 : divisor};
}

// --- instructions on each kind of type ---

ValueRange ApplyToFloats(Opcode opcode, DType type, const ValueRange& a,
                         const ValueRange& b) {
  if (const auto ends = EndsWithoutRounding(opcode, a, b))
    return ValueRange::Between(ends->low, ends->high, type);
  if (opcode == Opcode::kModulo || opcode == Opcode::kRemainder) {
    const Ends ends = Remainders(opcode, a, b);
    return Rounded(ends.low, ends.high, kArithmeticRoundings, type);
  }
  const bool is_arithmetic =
      opcode == Opcode::kAdd || opcode == Opcode::kSubtract ||
      opcode == Opcode::kMultiply || opcode == Opcode::kDivide;
  const bool adds = opcode == Opcode::kAdd || opcode == Opcode::kSubtract;
  if (is_arithmetic &&
      (std::isinf(a.magnitude()) || std::isinf(b.magnitude()))) {
    // Two infinities may combine to NaN, so the result is then unknown. In a
    // sum with an exactly known infinity, the result is that infinity.
    const bool is_alone = (a.is_exact() && !std::isinf(b.magnitude())) ||
                          (b.is_exact() && !std::isinf(a.magnitude()));
    if (!adds || !is_alone) return ValueRange::Unknown();
  }
  const Ends ends = is_arithmetic ? EndsOfArithmetic(opcode, a, b)
                                  : EndsOfFunction(opcode, a, b);
  return Rounded(ends.low, ends.high,
                 is_arithmetic ? kArithmeticRoundings : 2 * kFunctionUlps,
                 type);
}

ValueRange ApplyToIntegers(Opcode opcode, DType type, const ValueRange& a,
                           const ValueRange& b) {
  Ends ends = kNothing;
  if (const auto plain = EndsWithoutRounding(opcode, a, b)) {
    ends = *plain;
  } else if (opcode == Opcode::kDivide || opcode == Opcode::kFloorDivide) {
    if (b.low > 0) {
      ends = Corners(a, b, [&](double x, double y) {
        return opcode == Opcode::kDivide ? std::trunc(x / y)
                                         : std::floor(x / y);
      });
    }
  } else if (opcode == Opcode::kModulo || opcode == Opcode::kRemainder) {
    ends = Remainders(opcode, a, b);
    if (b.low > 0) {
      ends.low = std::max(ends.low, 1 - b.high);
      ends.high = std::min(ends.high, b.high - 1);
    }
  } else {
    ends = EndsOfArithmetic(opcode, a, b);
  }
  // If the exact result may not fit the type, it wraps, so every value is
  // possible.
  const bool fits = ends.low >= LowestInteger(type) &&
                    ends.high <= HighestInteger(type) &&
                    std::abs(ends.low) <= kLargestExact &&
                    std::abs(ends.high) <= kLargestExact;
  return fits ? ValueRange::Between(ends.low, ends.high, type)
              : ValueRange::Unknown();
}

ValueRange Truth(bool may_be_false, bool may_be_true) {
  return ValueRange::Between(may_be_false ? 0 : 1, may_be_true ? 1 : 0,
                             DType::kBool);
}

ValueRange Compare(Opcode opcode, const ValueRange& a, const ValueRange& b) {
  // The ends of ranges are doubles, so two different integers above 2^53 may
  // look equal.
  const bool is_rough = std::max(a.magnitude(), b.magnitude()) > kLargestExact;
  const bool may_be_equal = a.low <= b.high && b.low <= a.high;
  const bool must_be_equal =
      a.low == a.high && b.low == b.high && may_be_equal && !is_rough;
  const bool may_be_less = is_rough ? a.low <= b.high : a.low < b.high;
  const bool may_be_more = is_rough ? a.high >= b.low : a.high > b.low;
  switch (opcode) {
    case Opcode::kEqual:
      return Truth(!must_be_equal, may_be_equal);
    case Opcode::kNotEqual:
      return Truth(may_be_equal, !must_be_equal);
    case Opcode::kLess:
      return Truth(a.high >= b.low, may_be_less);
    default:  // the only other instruction is kLessEqual
      return Truth(may_be_more, a.low <= b.high);
  }
}

ValueRange Cast(DType from, DType to, const ValueRange& a) {
  if (to == DType::kBool)
    return Compare(Opcode::kNotEqual, a, ValueRange::Exactly(0, from));
  if (IsFloat(to)) {
    const bool is_wider = IsFloat(from) &&
                          RoundingError(to) <= RoundingError(from) &&
                          LargestFinite(to) >= LargestFinite(from);
    return is_wider ? ValueRange::Between(a.low, a.high, to)
                    : Rounded(a.low, a.high, 1, to);
  }
  const double low = std::trunc(a.low), high = std::trunc(a.high);
  const double least = LowestInteger(to), most = HighestInteger(to);
  if (IsFloat(from)) {
    return ValueRange::Between(std::clamp(low, least, most),
                               std::clamp(high, least, most), to);
  }
  return low >= least && high <= most ? ValueRange::Between(low, high, to)
                                      : ValueRange::Unknown();
}

// True if every executor gives the same bits for these operand values: the
// result is exact, the instruction does not round, or an operand is infinite or
// a NaN.
bool IsSameEverywhere(Opcode opcode, DType operand_type, DType result_type,
                      double a, double b, double result) {
  if (!IsFloat(result_type) || !IsFloat(operand_type)) return true;
  if (!std::isfinite(a) || !std::isfinite(b)) return true;
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract: {
      const double other = opcode == Opcode::kAdd ? b : -b;
      const double sum = a + other, part = sum - a;
      const double lost = (a - (sum - part)) + (other - part);
      return result == sum && lost == 0;
    }
    case Opcode::kMultiply:
      return result == a * b && std::fma(a, b, -result) == 0;
    case Opcode::kDivide:
      return b == 0 || (std::isfinite(result) && std::fma(result, b, -a) == 0);
    case Opcode::kSqrt:
      return std::isfinite(result) && std::fma(result, result, -a) == 0;
    case Opcode::kNegate:
    case Opcode::kAbsolute:
    case Opcode::kSign:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRound:
    case Opcode::kTruncate:
    case Opcode::kMinimum:
    case Opcode::kMaximum:
    case Opcode::kModulo:
    case Opcode::kRemainder:
    case Opcode::kSelect:
    case Opcode::kCast:
    case Opcode::kBitcast:
      return true;
    default:
      return false;
  }
}

// Applies the instruction to each combination of the values that the operands
// list. Returns nullopt if there are too many results, or if executors may give
// different results.
std::optional<ValueRange> ApplyToValues(Opcode opcode, DType operand_type,
                                        DType result_type,
                                        const RangeOperands& operands,
                                        int operand_count) {
  const bool is_select = opcode == Opcode::kSelect;
  const DType first = is_select ? DType::kBool : operand_type;
  ValueRange result;
  for (int i = 0; i < operands.a.count; ++i) {
    for (int j = 0; j < std::max(1, operands.b.count); ++j) {
      for (int k = 0; k < std::max(1, operands.c.count); ++k) {
        const ScalarOperands scalars = {operands.a.bits[i], operands.b.bits[j],
                                        operands.c.bits[k]};
        const uint64_t bits =
            EvaluateScalar(opcode, first, result_type, scalars);
        const double b =
            operand_count > 1 ? BitsToDouble(scalars.b, operand_type) : 0;
        if (!IsSameEverywhere(opcode, operand_type, result_type,
                              BitsToDouble(scalars.a, first), b,
                              BitsToDouble(bits, result_type)))
          return std::nullopt;
        const ValueRange value = ValueRange::Exactly(bits, result_type);
        result = result.count == 0 ? value : Union(result, value, result_type);
        if (result.count == 0) return std::nullopt;
      }
    }
  }
  return result;
}

}  // namespace

ValueRange ValueRange::Exactly(uint64_t bits, DType type) {
  ValueRange range;
  range.count = 1;
  range.bits[0] = bits;
  range.low = range.high = BitsToDouble(bits, type);
  range.is_known = true;
  if (std::isnan(range.low)) {
    range.low = -kInfinity;
    range.high = kInfinity;
  }
  return range;
}

ValueRange ValueRange::Between(double low, double high, DType type) {
  if (std::isnan(low) || std::isnan(high)) return Unknown();
  if (low == high && std::abs(low) <= kLargestExact &&
      (!IsFloat(type) || BitsToDouble(DoubleToBits(low, type), type) == low))
    return Exactly(DoubleToBits(low, type), type);
  ValueRange range;
  range.low = low;
  range.high = high;
  range.is_known = true;
  if (IsFloat(type) || high - low >= kMaxValues ||
      std::max(std::abs(low), std::abs(high)) > kLargestExact)
    return range;
  for (double value = low; value <= high; ++value)
    range.bits[range.count++] = type == DType::kBool
                                    ? static_cast<uint64_t>(value)
                                    : DoubleToBits(value, type);
  return range;
}

double ValueRange::magnitude() const {
  return std::max(std::abs(low), std::abs(high));
}

bool ValueRange::Contains(uint64_t value, DType type) const {
  if (!is_known) return true;
  const double number = BitsToDouble(value, type);
  for (int i = 0; i < count; ++i) {
    const double listed = BitsToDouble(bits[i], type);
    if (bits[i] == value || listed == number ||
        (std::isnan(listed) && std::isnan(number)))
      return true;
  }
  return count == 0 && low <= number && number <= high;
}

ValueRange Union(const ValueRange& a, const ValueRange& b, DType type) {
  if (!a.is_known || !b.is_known) return ValueRange::Unknown();
  ValueRange range = a;
  range.low = std::min(a.low, b.low);
  range.high = std::max(a.high, b.high);
  if (a.count > 0 && b.count > 0) {
    for (int i = 0; i < b.count; ++i) {
      const auto end = range.bits + range.count;
      if (std::find(range.bits, end, b.bits[i]) != end) continue;
      if (range.count == ValueRange::kMaxValues) {
        range.count = 0;
        break;
      }
      range.bits[range.count++] = b.bits[i];
    }
    if (range.count > 0) return range;
  }
  // An interval cannot contain NaN, so the union is unknown if one of the
  // listed values is NaN.
  for (const ValueRange* side : {&a, &b}) {
    for (int i = 0; i < side->count; ++i) {
      if (std::isnan(BitsToDouble(side->bits[i], type)))
        return ValueRange::Unknown();
    }
  }
  range.count = 0;
  return range;
}

double RoundingError(DType type) {
  if (!IsFloat(type)) return 0;
  return std::ldexp(1.0, -FloatFormatOf(type).mantissa_bits - 1);
}

ValueRange Widen(const ValueRange& range, double error, DType type) {
  if (!range.is_known) return range;
  return Rounded(range.low - error, range.high + error, 1, type);
}

ValueRange Apply(Opcode opcode, DType operand_type, DType result_type,
                 const RangeOperands& operands) {
  const int count = RegisterOperandCount(opcode);
  const auto& [a, b, c] = operands;
  if (a.count > 0 && (count < 2 || b.count > 0) && (count < 3 || c.count > 0)) {
    if (auto values =
            ApplyToValues(opcode, operand_type, result_type, operands, count))
      return *values;
  }
  if (opcode == Opcode::kSelect) {
    if (a.is_exact()) return a.bits[0] != 0 ? b : c;
    return Union(b, c, result_type);
  }
  // An interval does not contain NaN, so an operand that lists NaN makes the
  // result unknown here.
  const auto is_number = [&](const ValueRange& range) {
    if (!range.is_known) return false;
    for (int i = 0; i < range.count; ++i) {
      if (std::isnan(BitsToDouble(range.bits[i], operand_type))) return false;
    }
    return true;
  };
  const bool are_numbers = is_number(a) && (count < 2 || is_number(b));
  if (InfoOf(opcode).group == InstructionGroup::kCompare)
    return are_numbers ? Compare(opcode, a, b) : Truth(true, true);
  if (!are_numbers)
    return result_type == DType::kBool ? Truth(true, true)
                                       : ValueRange::Unknown();
  switch (opcode) {
    case Opcode::kCast:
      return Cast(operand_type, result_type, a);
    case Opcode::kIsNan:
      return Truth(true, false);
    case Opcode::kIsInfinite:
      return Truth(true, std::isinf(a.low) || std::isinf(a.high));
    case Opcode::kBitcast:
    case Opcode::kNot:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRight:
      return result_type == DType::kBool ? Truth(true, true)
                                         : ValueRange::Unknown();
    default:
      return IsFloat(result_type) ? ApplyToFloats(opcode, result_type, a, b)
                                  : ApplyToIntegers(opcode, result_type, a, b);
  }
}

}  // namespace ember::tensor
