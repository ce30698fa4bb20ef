#include "frontends/onnx/generation/draws.h"

#include <cmath>

namespace ember::onnx {
namespace {

constexpr int64_t kMultiplier = 16807;
constexpr int64_t kModulus = 2147483647;

Tensor TimesModulo(Tensor a, Tensor b) {
  return Modulo(a * b, static_cast<double>(kModulus));
}

// Returns kMultiplier ^ exponent modulo kModulus, computed by repeated
// squaring. It jumps to any number of the generator. The exponent has at most
// 40 bits.
Tensor PowerOf(Tensor exponent) {
  constexpr int kBits = 40;
  Tensor power = exponent.Like(1);
  int64_t factor = kMultiplier;  // kMultiplier ^ 2^bit
  for (int bit = 0; bit < kBits; ++bit) {
    const Tensor digit =
        And(Binary(Opcode::kShiftRight, exponent, exponent.Like(bit)),
            exponent.Like(1));
    const Tensor grown =
        TimesModulo(power, exponent.Like(static_cast<double>(factor)));
    power = Select(Equal(digit, 1), grown, power);
    factor = factor * factor % kModulus;
  }
  return power;
}

}  // namespace

Tensor UniformDraws(NodeContext& c, Tensor seed, const Shape& shape) {
  constexpr auto kRange = static_cast<double>(kModulus - 1);
  seed = Modulo(seed, static_cast<double>(kModulus));
  seed = Select(Equal(seed, 0), seed.Like(1), seed);
  const Tensor place =
      Reshape(IotaVector(c.builder(), ElementCount(shape), DType::kI64), shape);
  const Tensor low = TimesModulo(PowerOf(place * 2.0 + 1.0), seed);
  const Tensor high = TimesModulo(low, low.Like(kMultiplier));
  const Tensor sum =
      Cast(low - 1.0, DType::kF64) + Cast(high - 1.0, DType::kF64) * kRange;
  // Rounding may give a quotient of 1, but draws must be below 1: such a draw
  // becomes the largest f64 below 1.
  return Minimum(sum / (kRange * kRange), std::nextafter(1.0, 0.0));
}

}  // namespace ember::onnx
