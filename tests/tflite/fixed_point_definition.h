// TensorFlow Lite's arithmetic on stored integers in plain C++, as its public
// sources define it (gemmlowp's rounding). Tests compare results with it. It
// uses no code of the importer.
#ifndef EMBER_TESTS_TFLITE_FIXED_POINT_DEFINITION_H_
#define EMBER_TESTS_TFLITE_FIXED_POINT_DEFINITION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/formats/numbers.h"

namespace ember::tests {

inline int32_t DoublingHighProduct(int32_t a, int32_t b) {
  if (a == b && a == INT32_MIN) return INT32_MAX;
  const int64_t product = int64_t{a} * b;
  const int64_t nudge = product >= 0 ? (1 << 30) : 1 - (1 << 30);
  return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

inline int32_t RoundingDivide(int32_t x, int exponent) {
  const auto mask = static_cast<int32_t>((int64_t{1} << exponent) - 1);
  const int32_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> exponent) + ((x & mask) > threshold ? 1 : 0);
}

enum class Halves { kUp, kAwayFromZero };

// Returns x * scale in fixed-point arithmetic. `halves` is kUp for plain
// convolutions, fully connected layers and products of matrices; all other
// operators round halves away from zero.
inline int32_t Scaled(int32_t x, double scale,
                      Halves halves = Halves::kAwayFromZero) {
  int shift = 0;
  auto multiplier = static_cast<int64_t>(
      std::round(std::frexp(scale, &shift) * 2147483648.0));
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  if (scale == 0) return 0;
  const int32_t high = DoublingHighProduct(x * (1 << std::max(shift, 0)),
                                           static_cast<int32_t>(multiplier));
  const int exponent = std::max(-shift, 0);
  if (halves == Halves::kAwayFromZero) return RoundingDivide(high, exponent);
  return (high + ((1 << exponent) >> 1)) >> exponent;
}

inline double Clamped(int64_t value, DType type, int64_t low = -32768) {
  const int64_t least = type == DType::kI8   ? -128
                        : type == DType::kU8 ? 0
                                             : -32768;
  const int64_t most = type == DType::kI8   ? 127
                       : type == DType::kU8 ? 255
                                            : 32767;
  return static_cast<double>(std::clamp(value, std::max(least, low), most));
}

// Draws random operands and scales. All objects draw the same numbers, so tests
// are repeatable.
class RandomOperands {
 public:
  std::vector<double> Integers(size_t count, int low, int high) {
    std::uniform_int_distribution<int> draw(low, high);
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i) values.push_back(draw(engine_));
    return values;
  }
  float Scale(double low, double high) {
    return static_cast<float>(std::exp(std::uniform_real_distribution<double>(
        std::log(low), std::log(high))(engine_)));
  }

 private:
  std::mt19937 engine_{20240607};
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_TFLITE_FIXED_POINT_DEFINITION_H_
