// The special functions of the table. They are computed in f64, except for
// Erfc of narrower floats.
//
// Sources: Lanczos (1964) with g = 7 for the logarithm of the gamma function;
// Abramowitz and Stegun 6.3 for its derivative and 7.1.14 for erfc's continued
// fraction; Giles (2010), "Approximating the erfinv function"; Moshier's Cephes
// (ndtrf) for erfc in f32.
#include <cmath>
#include <span>

#include "frontends/ops/functions.h"

namespace ember::ops {
namespace {

Tensor InDouble(Tensor x, Tensor (*function)(Tensor)) {
  return Cast(function(Cast(x, DType::kF64)), x.dtype());
}

Tensor Polynomial(Tensor x, std::span<const double> highest_first) {
  Tensor sum = x.Like(highest_first[0]);
  for (const double coefficient : highest_first.subspan(1))
    sum = sum * x + coefficient;
  return sum;
}

// Returns erfc(x) = 1 - erf(x) for x >= 2, by the continued fraction exp(-x²) /
// sqrt(pi) / (x + (1/2) / (x + 1 / (x + (3/2) / …))).
Tensor TailOfErf(Tensor x) {
  Tensor fraction = x;
  for (int k = 60; k > 0; --k) fraction = x + 0.5 * k / fraction;
  return Exp(-(x * x)) / (fraction * std::sqrt(M_PI));
}

// Returns the distance of x from the nearest whole number, which is exact. The
// distance from the floor would round to 1 for a tiny negative x.
Tensor FromNearest(Tensor x) { return x - Round(x); }

Tensor ErfcOfDouble(Tensor x) {
  const Tensor large = Maximum(x, 2);
  return Select(Less(2, x), TailOfErf(large), 1.0 - Erf(x));
}

// Returns erfc(x) for f32, from exp(-a²) P(1 / a²) / a with a = |x| where a >
// 1; the polynomial P is another one from 2 on. a² is split into the square of
// the leading bits of `a`, which is exact, and the rest, each with its own
// exponential. So a rounding error of the square is not magnified.
Tensor ErfcOfSingle(Tensor x) {
  static constexpr double kNear[] = {
      2.326819970068386e-2,  -1.387039388740657e-1, 3.687424674597105e-1,
      -5.824733027278666e-1, 6.210004621745983e-1,  -4.944515323274145e-1,
      3.404879937665872e-1,  -2.741127028184656e-1, 5.638259427386472e-1};
  static constexpr double kFar[] = {
      -1.047766399936249e+1, 1.297719955372516e+1, -7.495518717768503,
      2.921019019210786,     -1.015265279202700,   4.218463358204948e-1,
      -2.820767439740514e-1, 5.641895067754075e-1};
  const Tensor a = Maximum(Minimum(Absolute(x), 12), 0.5);
  const Tensor leading = Floor(a * 128.0) * (1.0 / 128);
  const Tensor power =
      Exp(-(leading * leading)) * Exp((leading - a) * (leading + a));
  const Tensor y = 1.0 / (a * a);
  const Tensor series =
      Select(Less(a, 2), Polynomial(y, kNear), Polynomial(y, kFar));
  const Tensor tail = power / a * series;
  const Tensor result = Select(Less(x, 0), 2.0 - tail, tail);
  return Select(Less(1, Absolute(x)), result, 1.0 - Erf(x));
}

Tensor InverseOfErf(Tensor x) {
  static constexpr double kNear[] = {
      2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
      -4.39150654e-06, 0.00021858087,  -0.00125372503,
      -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double kFar[] = {
      -0.000200214257, 0.000100950558, 0.00134934322,
      -0.00367342844,  0.00573950773,  -0.0076224613,
      0.00943887047,   1.00167406,     2.83297682};
  const Tensor w = -Log1p(-(x * x));
  Tensor y = x * Select(Less(w, 5), Polynomial(w - 2.5, kNear),
                        Polynomial(Sqrt(w) - 3.0, kFar));
  // Newton's method improves y, the approximation of the inverse. From |x| =
  // 0.5 on the error is computed from 1 - |x|, which is exact there, and erfc.
  const Tensor near = Less(Absolute(x), 0.5);
  const Tensor side = Select(Less(x, 0), x.Like(-1), x.Like(1));
  for (int step = 0; step < 2; ++step) {
    const Tensor size = Absolute(y);
    const Tensor error = Select(near, Erf(size) - Absolute(x),
                                (1.0 - Absolute(x)) - ErfcOfDouble(size));
    const Tensor next = size - error / (Exp(-(size * size)) * M_2_SQRTPI);
    const Tensor usable = Less(size, 6);
    y = side * Select(usable, next, size);
  }
  const Tensor end = LessEqual(1, Absolute(x));
  const Tensor edge = Select(Less(1, Absolute(x)), x.Like(NAN), x * INFINITY);
  return Select(end, edge, Select(Equal(x, 0), x, y));
}

Tensor LogOfGamma(Tensor x) {
  static constexpr double kLanczos[] = {
      676.5203681218851,     -1259.1392167224028,  771.32342877765313,
      -176.61502916214059,   12.507343278686905,   -0.13857109526572012,
      9.9843695780195716e-6, 1.5056327351493116e-7};
  const Tensor mirrored = Less(x, 0.5);
  const Tensor z = Select(mirrored, 1.0 - x, x) - 1.0;
  Tensor sum = z.Like(0.99999999999980993);
  for (int i = 0; i < 8; ++i) sum = sum + kLanczos[i] / (z + (i + 1.0));
  const Tensor t = z + 7.5;
  const Tensor value =
      (z + 0.5) * Log(t) - t + Log(sum) + 0.5 * std::log(2 * M_PI);
  const Tensor reflected =
      std::log(M_PI) - Log(Absolute(Sin(FromNearest(x) * M_PI))) - value;
  const Tensor result = Select(mirrored, reflected, value);
  return Select(IsInfinite(x), x.Like(INFINITY), result);
}

// Uses the asymptotic series for large arguments. The recurrence digamma(x) =
// digamma(x + 1) - 1 / x increases the argument until the series is accurate.
Tensor DerivativeOfLogGamma(Tensor x) {
  const Tensor mirrored = Less(x, 0.5);
  const Tensor z = Select(mirrored, 1.0 - x, x);
  Tensor sum = z.Like(0);
  constexpr int kSteps = 10;
  for (int i = 0; i < kSteps; ++i)
    sum = sum - 1.0 / (z + static_cast<double>(i));
  const Tensor y = z + static_cast<double>(kSteps);
  const Tensor u = 1.0 / (y * y);
  static constexpr double kSeries[] = {
      -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252,
      -1.0 / 120,     1.0 / 12,  0};
  const Tensor value = sum + Log(y) - 0.5 / y - Polynomial(u, kSeries);
  const Tensor rest = FromNearest(x);
  const Tensor reflected = value - M_PI * Cos(rest * M_PI) / Sin(rest * M_PI);
  const Tensor pole = And(LessEqual(x, 0), Equal(rest, 0));
  return Select(pole, x.Like(NAN), Select(mirrored, reflected, value));
}

}  // namespace

Tensor Erfc(Tensor x) {
  const DType type = x.dtype();
  if (type == DType::kF64) return ErfcOfDouble(x);
  return Cast(ErfcOfSingle(Cast(x, DType::kF32)), type);
}

Tensor ErfInverse(Tensor x) { return InDouble(x, InverseOfErf); }

Tensor LogGamma(Tensor x) { return InDouble(x, LogOfGamma); }

Tensor Digamma(Tensor x) { return InDouble(x, DerivativeOfLogGamma); }

}  // namespace ember::ops
