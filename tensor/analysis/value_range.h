// A set of the values that a register of a dispatch may have, given that
// executors may round differently: a few listed values, or all numbers of an
// interval.
//
//   ValueRange x = ValueRange::Exactly(bits, DType::kF32);
//   // All that x * x may be as f32, fused or not: an interval of a few units in
//   // the last place around the true product, or the product if it is exact.
//   ValueRange square = Apply(Opcode::kMultiply, DType::kF32, DType::kF32,
//                             {x, x, {}});
//
// The rules are those of tensor/instructions.h plus rounding errors. Float
// arithmetic may be off by the rounding of a fused or a separate operation,
// transcendental functions by kFunctionUlps. Operations that are exact in every
// executor (moves, minima, comparisons, integers) stay exact. If an interval
// lies on both sides of a step of a comparison or cast, both results are
// possible. So a result outside of the range is wrong, even where rounding
// errors are amplified.
#ifndef EMBER_TENSOR_ANALYSIS_VALUE_RANGE_H_
#define EMBER_TENSOR_ANALYSIS_VALUE_RANGE_H_

#include <cstdint>
#include <limits>

#include "tensor/instructions.h"

namespace ember::tensor {

// Largest error of transcendental functions such as exp, in units in the last
// place.
inline constexpr double kFunctionUlps = 8;

struct ValueRange {
  static constexpr int kMaxValues = 4;

  // Number of listed values. If it is 0, the interval is the set.
  int count = 0;
  uint64_t bits[kMaxValues] = {};  // the listed values, given as bits of their
                                   // type
  // The interval's ends, which are included. If values are listed, the interval
  // contains all of them except NaN. Integers are exact below 2^53.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  // True if the range is known. False if the value may be anything, including
  // NaN.
  bool is_known = false;

  static ValueRange Unknown() { return {}; }
  static ValueRange Exactly(uint64_t bits, DType type);
  // Returns the range from low to high; for integers and bools, the whole
  // numbers from low to high. Returns Unknown if an end is NaN.
  static ValueRange Between(double low, double high, DType type);

  bool is_exact() const { return count == 1; }
  // Returns the larger one of the absolute values of low and high.
  double magnitude() const;
  bool Contains(uint64_t value, DType type) const;
};

// Returns a range that contains all values of a and all values of b.
ValueRange Union(const ValueRange& a, const ValueRange& b, DType type);

// Returns the relative error of one rounding to the type: half a unit in the
// last place. 0 for types that are no floats.
double RoundingError(DType type);

// Returns a range that contains all numbers at most `error` away from the
// range, and the results of rounding those numbers to the type.
ValueRange Widen(const ValueRange& range, double error, DType type);

struct RangeOperands {
  ValueRange a, b, c;
};

// Applies one arithmetic instruction, Select, Cast or Bitcast to ranges.
// operand_type has the same meaning as in EvaluateScalar (tensor/scalar.h).
ValueRange Apply(Opcode opcode, DType operand_type, DType result_type,
                 const RangeOperands& operands);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_ANALYSIS_VALUE_RANGE_H_
