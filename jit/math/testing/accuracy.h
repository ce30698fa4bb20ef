// For tests of jit/math: evaluates an expansion, and measures the error of a
// result.
//
//   Expansion exp(Opcode::kExp, DType::kF32);
//   exp.Evaluate(bits);                          // by tensor::EvaluateScalar
//   UlpError(1.0f, 1.0 + 0x1p-24) == 0.5
//
// Thread-compatible: Evaluate uses scratch space of the object.
#ifndef EMBER_JIT_MATH_TESTING_ACCURACY_H_
#define EMBER_JIT_MATH_TESTING_ACCURACY_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tensor/builder/expression_pool.h"

namespace ember::jit {

class Expansion {
 public:
  // Expands the instruction for unknown operands. If `constant` is given, the
  // second operand is the constant with these bits.
  Expansion(tensor::Opcode opcode, DType type,
            std::optional<uint64_t> constant = std::nullopt);

  uint64_t Evaluate(uint64_t a, uint64_t b = 0);

  // Returns the number of instructions of the expansion. Constants and bitcasts
  // are not counted, because they cost little or nothing.
  int instruction_count() const;
  // True if an operand or the result of an instruction has the type.
  bool Uses(DType type) const;
  bool Uses(tensor::Opcode opcode) const;

 private:
  struct Step {
    tensor::Opcode opcode;
    DType operand_type;
    DType type;
    size_t operands[3];
  };

  size_t Flatten(tensor::NodeId id);

  tensor::ExpressionPool pool_;
  std::vector<Step> steps_;
  size_t root_ = 0;  // index in steps_ of the step that computes the result
  // for each node of the pool, the index of its step in steps_
  std::vector<std::optional<size_t>> position_of_;
  // Result of each step. For constants it is set by Flatten, for other steps by
  // Evaluate.
  std::vector<uint64_t> values_;
};

// Returns the error of `result` in units of the last place of T at the expected
// value. If one of them is NaN, or the expected value is infinite or 0, the
// error is 0 if they are equal (with the sign of a 0), otherwise infinite. An
// infinite result for a finite expected value counts as the smallest power of 2
// that T cannot represent, and is right if the expected value is at least as
// large.
template <typename T, typename Wide>
double UlpError(T result, Wide expected) {
  using Limits = std::numeric_limits<T>;
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isnan(expected) || std::isnan(result))
    return std::isnan(expected) && std::isnan(result) ? 0 : kWrong;
  const Wide overflow = std::ldexp(Wide{1}, Limits::max_exponent);
  if (std::isinf(expected)) return result == expected ? 0 : kWrong;
  if (expected == 0) {
    return result == 0 && std::signbit(result) == std::signbit(expected)
               ? 0
               : kWrong;
  }
  if (std::isinf(result) && std::fabs(expected) >= overflow)
    return (result > 0) == (expected > 0) ? 0 : kWrong;
  const Wide found =
      std::isinf(result) ? std::copysign(overflow, Wide{result}) : Wide{result};
  const int exponent =
      std::clamp(std::ilogb(expected), Limits::min_exponent - 1,
                 Limits::max_exponent - 1) -
      (Limits::digits - 1);
  return static_cast<double>(
      std::ldexp(std::fabs(found - expected), -exponent));
}

}  // namespace ember::jit

#endif  // EMBER_JIT_MATH_TESTING_ACCURACY_H_
