#include "frontends/ops/functions.h"

#include <cmath>
#include <numbers>

namespace ember::ops {
namespace {

// Computes a function of narrow floats in f32 and rounds once.
Tensor InComputeType(Tensor x, Tensor (*function)(Tensor)) {
  return Cast(function(Cast(x, ComputeType(x.dtype()))), x.dtype());
}

constexpr ScalarFunction kFunctions[] = {
#define EMBER_PLAIN(name, bound, floor, expression)                      \
  {#name, expression, 0, 0, bound, floor, [](Tensor x, double, double) { \
     return name(x);                                                     \
   }},
#define EMBER_ONE(name, a, bound, floor, expression)                           \
  {#name, expression, a, 0, bound, floor, [](Tensor x, double first, double) { \
     return name(x, first);                                                    \
   }},
#define EMBER_TWO(name, a, b, bound, floor, expression) \
  {#name,                                               \
   expression,                                          \
   a,                                                   \
   b,                                                   \
   bound,                                               \
   floor,                                               \
   [](Tensor x, double first, double second) {          \
     return name(x, first, second);                     \
   }},
    EMBER_FOR_EACH_SCALAR_FUNCTION(EMBER_PLAIN, EMBER_PLAIN, EMBER_ONE,
                                   EMBER_TWO)
#undef EMBER_PLAIN
#undef EMBER_ONE
#undef EMBER_TWO
};

}  // namespace

std::span<const ScalarFunction> ScalarFunctions() { return kFunctions; }

// --- powers and logarithms ---

Tensor Square(Tensor x) { return x * x; }

Tensor Cube(Tensor x) { return x * x * x; }

Tensor Reciprocal(Tensor x) { return 1.0 / x; }

Tensor Rsqrt(Tensor x) {
  return InComputeType(x, [](Tensor wide) { return 1.0 / Sqrt(wide); });
}

// The power with exponent 1/3 is inexact, so one step of Newton's method
// corrects it.
Tensor Cbrt(Tensor x) {
  return InComputeType(x, [](Tensor wide) {
    const Tensor size = Absolute(wide);
    const Tensor root = Power(size, 1.0 / 3);
    const Tensor square = root * root;
    const Tensor step = (root * square - size) / (square * 3.0);
    const Tensor usable =
        And(Less(0, size), And(Less(size, INFINITY), Less(0, square)));
    const Tensor better = Select(usable, root - step, root);
    return Select(Less(wide, 0), -better, Select(Equal(wide, 0), wide, better));
  });
}

// exp(x log 2) would be less exact, because the product rounds away low bits of
// x.
Tensor Exp2(Tensor x) { return Power(x.Like(2), x); }

Tensor Log2(Tensor x) { return Log(x) / std::numbers::ln2; }

Tensor Log10(Tensor x) { return Log(x) / std::numbers::ln10; }

// --- rounding, signs and kinds ---

Tensor Fraction(Tensor x) { return x - Truncate(x); }

// Rounds halves away from zero. Truncating x + 0.5 would be wrong for the
// largest number below 0.5, whose sum rounds up to 1.
Tensor RoundHalfAway(Tensor x) {
  const Tensor whole = Truncate(x);
  const Tensor fraction = Absolute(x - whole);
  return Select(Less(fraction, 0.5), whole, whole + Sign(x));
}

Tensor SignNanZero(Tensor x) {
  const Tensor sign = Sign(x);
  return x.is_float() ? Select(IsNan(x), x.Like(0), sign) : sign;
}

Tensor IsFinite(Tensor x) { return Less(Absolute(x), INFINITY); }

Tensor Degrees(Tensor x) { return x * (180 / std::numbers::pi); }

Tensor Radians(Tensor x) { return x * (std::numbers::pi / 180); }

// --- activations ---

Tensor Relu(Tensor x) { return Maximum(x, 0); }

Tensor Relu6(Tensor x) { return Minimum(Maximum(x, 0), 6); }

Tensor Clip(Tensor x, double a, double b) { return Minimum(Maximum(x, a), b); }

Tensor LeakyRelu(Tensor x, double a) { return Select(Less(x, 0), x * a, x); }

Tensor LeakyRelu(Tensor x, Tensor a) { return Select(Less(x, 0), x * a, x); }

Tensor ThresholdedRelu(Tensor x, double a) {
  return Select(Less(a, x), x, x.Like(0));
}

Tensor ThresholdedReluInclusive(Tensor x, double a) {
  return Select(Less(x, a), x.Like(0), x);
}

Tensor Elu(Tensor x, double a) { return Select(Less(x, 0), Expm1(x) * a, x); }

Tensor ScaledElu(Tensor x, double a, double b) {
  return Select(Less(x, 0), Expm1(x) * (a * b), x * b);
}

Tensor Selu(Tensor x) { return ScaledElu(x, kSeluAlpha, kSeluScale); }

Tensor Celu(Tensor x, double a) {
  return Select(Less(x, 0), Expm1(x / a) * a, x);
}

Tensor Sigmoid(Tensor x) { return 1.0 / (Exp(-x) + 1.0); }

// Equals log(1 + e^x). In this form the exponential is of -|x|, which cannot
// overflow.
Tensor Softplus(Tensor x) { return Maximum(x, 0) + Log1p(Exp(-Absolute(x))); }

Tensor ParametricSoftplus(Tensor x, double a, double b) {
  return Softplus(x * b) * a;
}

Tensor ParametricSoftplus(Tensor x, Tensor a, Tensor b) {
  return Softplus(x * b) * a;
}

Tensor LogSigmoid(Tensor x) { return -Softplus(-x); }

Tensor Softsign(Tensor x) { return x / (Absolute(x) + 1.0); }

Tensor Silu(Tensor x) { return x * Sigmoid(x); }

Tensor Swish(Tensor x, double a) {
  return a == 1 ? Silu(x) : x * Sigmoid(x * a);
}

Tensor Mish(Tensor x) { return x * Tanh(Softplus(x)); }

Tensor Gelu(Tensor x) { return x * 0.5 * (Erf(x * std::sqrt(0.5)) + 1.0); }

Tensor TanhGelu(Tensor x) {
  const Tensor inner = (x + x * x * x * 0.044715) * std::sqrt(2 / M_PI);
  return x * 0.5 * (Tanh(inner) + 1.0);
}

Tensor HardSigmoid(Tensor x, double a, double b) {
  return Minimum(Maximum(x * a + b, 0), 1);
}

Tensor HardSigmoid6(Tensor x) {
  return Minimum(Maximum(x + 3.0, 0), 6) * (1.0 / 6);
}

Tensor HardSwish(Tensor x) { return x * HardSigmoid6(x); }

Tensor Shrink(Tensor x, double a, double b) {
  const Tensor below = Select(Less(x, -a), x + b, x.Like(0));
  return Select(Less(a, x), x - b, below);
}

Tensor HardShrink(Tensor x, double a) {
  return Select(LessEqual(Absolute(x), a), x.Like(0), x);
}

Tensor TanhShrink(Tensor x) { return x - Tanh(x); }

Tensor ScaledTanh(Tensor x, double a, double b) { return Tanh(x * b) * a; }

Tensor Squareplus(Tensor x, double a) {
  // Returns (x + sqrt(x² + a)) / 2. For large x, x² would overflow, and the
  // root is |x|. For x < 0 the sum would cancel, so it is computed as (a / 4) /
  // f(-x).
  const Tensor size = Absolute(x);
  const Tensor root = Select(Less(size, 0x1p30), Sqrt(x * x + a), size);
  const Tensor sum = size * 0.5 + root * 0.5;
  return Select(Less(x, 0), (a / 4) / sum, sum);
}

Tensor Linear(Tensor x, double a, double b) { return x * a + b; }

}  // namespace ember::ops
