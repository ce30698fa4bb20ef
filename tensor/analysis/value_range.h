// The values that a register of a dispatch may have if every executor rounds in
// its own way: one of a few listed values, or any number of an interval.
//
//   ValueRange x = ValueRange::Exactly(bits, DType::kF32);
//   // All that x * x may be as f32, fused or not: an interval of a few units in
//   // the last place around the true product, or the product if it is exact.
//   ValueRange square = Apply(Opcode::kMultiply, DType::kF32, DType::kF32,
//                             {x, x, {}});
//
// The rules are those of tensor/instructions.h with rounding errors. Float
// arithmetic may be off by the rounding of a fused or a separate operation,
// transcendental functions by kFunctionUlps. Operations that are exact in every
// executor (moves, minima, comparisons, integers) stay exact. If an interval
// lies on both sides of a step of a comparison or cast, both results are
// possible. So a result outside of the range is wrong, however much rounding is
// amplified.
#ifndef EMBER_TENSOR_ANALYSIS_VALUE_RANGE_H_
#define EMBER_TENSOR_ANALYSIS_VALUE_RANGE_H_

#include <cstdint>
#include <limits>

#include "tensor/instructions.h"

namespace ember::tensor {

// Number of units in the last place that functions such as exp may be off.
inline constexpr double kFunctionUlps = 8;

struct ValueRange {
  static constexpr int kMaxValues = 4;

  // Number of listed values; 0: the range is the interval.
  int count = 0;
  uint64_t bits[kMaxValues] = {};  // bits of the values, in their type
  // The interval; for listed values it contains them (except NaN). Integers are
  // exact below 2^53.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  // True: the range is known. False: the value may be anything, NaN too.
  bool is_known = false;

  static ValueRange Unknown() { return {}; }
  static ValueRange Exactly(uint64_t bits, DType type);
  // Returns the range from low to high; for integers and bools, the whole
  // numbers in it. Unknown if an end is NaN.
  static ValueRange Between(double low, double high, DType type);

  bool is_exact() const { return count == 1; }
  // Returns the larger of the ends' absolute values.
  double magnitude() const;
  bool Contains(uint64_t value, DType type) const;
};

// Returns a range with all values that either range allows.
ValueRange Union(const ValueRange& a, const ValueRange& b, DType type);

// Returns the relative error of one rounding to the type: half a unit in the
// last place. 0 for types that are no floats.
double RoundingError(DType type);

// Returns a range with all numbers within `error` of the range, and the other
// values that rounding to the type may give.
ValueRange Widen(const ValueRange& range, double error, DType type);

struct RangeOperands {
  ValueRange a, b, c;
};

// Applies one arithmetic instruction, Select, Cast or Bitcast to ranges;
// operand_type as in EvaluateScalar (tensor/scalar.h).
ValueRange Apply(Opcode opcode, DType operand_type, DType result_type,
                 const RangeOperands& operands);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_ANALYSIS_VALUE_RANGE_H_
