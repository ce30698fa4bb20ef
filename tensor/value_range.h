// What a value of a dispatch may be, if every executor rounds in its own way:
// one of a few values, or any number of an interval.
//
//   ValueRange x = ValueRange::Exactly(bits, DType::kF32);
//   // All that x * x may be as f32, fused or not: an interval of a few units in
//   // the last place around the true product, or the product if it is exact.
//   ValueRange square = Apply(Opcode::kMultiply, DType::kF32, DType::kF32,
//                             {x, x, {}});
//
// The rules are those of tensor/instructions.h with rounding errors: arithmetic
// of floats may be off by what a fused or a separately rounded operation may,
// transcendental functions by kFunctionUlps; what is exact in every executor
// (moves, minima, comparisons, integers) stays exact. A comparison or cast of
// an interval that both sides of a step are in gives both results. So a result
// out of the range is wrong, however much what led to it amplifies rounding.
#ifndef EMBER_TENSOR_VALUE_RANGE_H_
#define EMBER_TENSOR_VALUE_RANGE_H_

#include <cstdint>
#include <limits>

#include "tensor/instructions.h"

namespace ember::tensor {

// Units in the last place that functions such as exp may be off.
inline constexpr double kFunctionUlps = 8;

struct ValueRange {
  static constexpr int kMostValues = 4;

  // How many values are listed; 0: the interval says it.
  int count = 0;
  uint64_t bits[kMostValues] = {};  // of the value's type
  // Of listed values: around them (not of NaN). Integers are exact where they
  // are below 2^53.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  // False: anything, NaN too.
  bool is_known = false;

  static ValueRange Unknown() { return {}; }
  static ValueRange Exactly(uint64_t bits, DType type);
  // Of integers and bools the whole numbers in it; NaN as an end: Unknown.
  static ValueRange Between(double low, double high, DType type);

  bool is_exact() const { return count == 1; }
  // The larger of the ends' absolute values.
  double magnitude() const;
  bool Contains(uint64_t value, DType type) const;
};

// All that either may be.
ValueRange Union(const ValueRange& a, const ValueRange& b, DType type);

// The relative error of one rounding to the type: half a unit in the last
// place. 0 for what is no float.
double RoundingError(DType type);

// All numbers within `error` of the range, and what else rounding to the type
// may give.
ValueRange Widen(const ValueRange& range, double error, DType type);

struct RangeOperands {
  ValueRange a, b, c;
};

// One arithmetic instruction, Select, Cast or Bitcast; operand_type as in
// EvaluateScalar (tensor/scalar.h).
ValueRange Apply(Opcode opcode, DType operand_type, DType result_type,
                 const RangeOperands& operands);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_VALUE_RANGE_H_
