// Measures the error of every row of frontends/ops/functions.h on tier 0
// against a reference in f64, at many numbers: tiny, huge, of both signs, near
// the functions' special places, and at random. Prints the errors.
#include "frontends/ops/functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "tensor/instructions.h"
#include "tests/formats/numbers.h"

namespace ember::tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// References in f64 for the functions of frontends/ops/functions.h, with the
// names of the table's rows. Parameters are rounded to f32, because the graph's
// constants are.
namespace reference {

double Negate(double x) { return -x; }
double Absolute(double x) { return std::fabs(x); }
double Sign(double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }
double Floor(double x) { return std::floor(x); }
double Ceil(double x) { return std::ceil(x); }
double Round(double x) { return std::nearbyint(x); }
double Truncate(double x) { return std::trunc(x); }
double Sqrt(double x) { return std::sqrt(x); }
double Exp(double x) { return std::exp(x); }
double Expm1(double x) { return std::expm1(x); }
double Log(double x) { return std::log(x); }
double Log1p(double x) { return std::log1p(x); }
double Sin(double x) { return std::sin(x); }
double Cos(double x) { return std::cos(x); }
double Tan(double x) { return std::tan(x); }
double Asin(double x) { return std::asin(x); }
double Acos(double x) { return std::acos(x); }
double Atan(double x) { return std::atan(x); }
double Sinh(double x) { return std::sinh(x); }
double Cosh(double x) { return std::cosh(x); }
double Tanh(double x) { return std::tanh(x); }
double Asinh(double x) { return std::asinh(x); }
double Acosh(double x) { return std::acosh(x); }
double Atanh(double x) { return std::atanh(x); }
double Erf(double x) { return std::erf(x); }
double IsNan(double x) { return std::isnan(x) ? 1 : 0; }
double IsInfinite(double x) { return std::isinf(x) ? 1 : 0; }

double Square(double x) { return x * x; }
double Cube(double x) { return x * x * x; }
double Reciprocal(double x) { return 1 / x; }
double Rsqrt(double x) { return 1 / std::sqrt(x); }
double Cbrt(double x) { return std::cbrt(x); }
double Exp2(double x) { return std::exp2(x); }
double Log2(double x) { return std::log2(x); }
double Log10(double x) { return std::log10(x); }
double Fraction(double x) { return x - std::trunc(x); }
double RoundHalfAway(double x) { return std::round(x); }
double SignNanZero(double x) { return (x > 0) - (x < 0); }
double IsFinite(double x) { return std::isfinite(x) ? 1 : 0; }
double Degrees(double x) { return x * 180 / std::numbers::pi; }
double Radians(double x) { return x * std::numbers::pi / 180; }

double Erfc(double x) { return std::erfc(x); }
// Finds the inverse of erf by bisection, as erfc decreases strictly. For large
// results erfc is compared with 1 - x, because 1 - x is exact near 1.
double ErfInverse(double x) {
  if (std::isnan(x) || std::fabs(x) > 1) return kNan;
  if (std::fabs(x) == 1) return x * kInfinity;
  if (std::fabs(x) < 1e-6) return x * std::sqrt(std::numbers::pi) / 2;
  const double size = std::fabs(x);
  double low = 0, high = 7;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    const bool is_below =
        size < 0.5 ? std::erf(middle) < size : std::erfc(middle) > 1 - size;
    (is_below ? low : high) = middle;
  }
  return std::copysign(low, x);
}
double LogGamma(double x) { return std::lgamma(x); }
// Computes digamma by its asymptotic series. The series is accurate for large
// arguments, so the argument is first increased by the recurrence.
double Digamma(double x) {
  if (std::isnan(x) || x == -kInfinity) return kNan;
  if (x <= 0 && x == std::floor(x)) return kNan;
  if (x == kInfinity) return kInfinity;
  if (x < 0.5) {
    const double rest = x - std::nearbyint(x);
    return Digamma(1 - x) -
           std::numbers::pi / std::tan(std::numbers::pi * rest);
  }
  long double sum = 0, y = x;
  for (; y < 30; ++y) sum -= 1 / y;
  const long double u = 1 / (y * y);
  return static_cast<double>(
      sum + std::log(y) - 1 / (2 * y) -
      u * (1.0L / 12 - u * (1.0L / 120 - u * (1.0L / 252 - u / 240))));
}

double Clip(double x, double a, double b) {
  return std::isnan(x) ? x : std::min(std::max(x, a), b);
}
double Relu(double x) { return Clip(x, 0, kInfinity); }
double Relu6(double x) { return Clip(x, 0, 6); }
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
double LogSigmoid(double x) { return -Softplus(-x); }
double Softsign(double x) { return x / (1 + std::fabs(x)); }
double Swish(double x, double a) { return x * Sigmoid(a * x); }
double Silu(double x) { return Swish(x, 1); }
double Mish(double x) { return x * std::tanh(Softplus(x)); }
double Gelu(double x) {
  return x * 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2);
}
double TanhGelu(double x) {
  const double inner =
      std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x * 0.5 * (1 + std::tanh(inner));
}
double HardSigmoid6(double x) { return Clip(x + 3, 0, 6) / 6; }
double HardSwish(double x) { return x * HardSigmoid6(x); }
double TanhShrink(double x) { return x - std::tanh(x); }
double LeakyRelu(double x, double a) { return x < 0 ? a * x : x; }
double ThresholdedRelu(double x, double a) { return x > a ? x : 0; }
double ThresholdedReluInclusive(double x, double a) { return x < a ? 0 : x; }
double HardShrink(double x, double a) { return std::fabs(x) <= a ? 0 : x; }
double ScaledElu(double x, double a, double b) {
  return b * (x < 0 ? a * std::expm1(x) : x);
}
double Elu(double x, double a) { return ScaledElu(x, a, 1); }
double Selu(double x) {
  return ScaledElu(x, 1.6732632423543772, 1.0507009873554805);
}
double Celu(double x, double a) { return x < 0 ? a * std::expm1(x / a) : x; }
double Squareplus(double x, double a) {
  const double sum = (std::fabs(x) + std::hypot(x, std::sqrt(a))) / 2;
  return x < 0 ? a / 4 / sum : sum;
}
double Linear(double x, double a, double b) { return a * x + b; }
double ParametricSoftplus(double x, double a, double b) {
  return a * Softplus(b * x);
}
double HardSigmoid(double x, double a, double b) {
  return Clip(a * x + b, 0, 1);
}
double ScaledTanh(double x, double a, double b) { return a * std::tanh(b * x); }
double Shrink(double x, double a, double b) {
  if (x > a) return x - b;
  return x < -a ? x + b : 0;
}

}  // namespace reference

using Reference = double (*)(double x, double a, double b);
constexpr Reference kReferences[] = {
#define EMBER_PLAIN(name, ...) \
  [](double x, double, double) { return reference::name(x); },
#define EMBER_ONE(name, ...) \
  [](double x, double a, double) { return reference::name(x, a); },
#define EMBER_TWO(name, ...) \
  [](double x, double a, double b) { return reference::name(x, a, b); },
    EMBER_FOR_EACH_SCALAR_FUNCTION(EMBER_PLAIN, EMBER_PLAIN, EMBER_ONE,
                                   EMBER_TWO)
#undef EMBER_PLAIN
#undef EMBER_ONE
#undef EMBER_TWO
};

// Returns the error in units of the last place of f32 at max(|expected|,
// floor). It is infinite if the result is NaN, or infinite, where the reference
// is not.
double ErrorOf(double got, double expected, double floor) {
  if (std::isnan(expected) || std::isnan(got))
    return std::isnan(expected) && std::isnan(got) ? 0 : kInfinity;
  if (got == expected) return 0;
  if (std::isinf(got)) {
    const bool overflows = std::fabs(expected) > 0x1.fffffep127;
    return overflows && (got > 0) == (expected > 0) ? 0 : kInfinity;
  }
  if (std::isinf(expected)) return kInfinity;
  const double size = std::max({std::fabs(expected), floor, 0x1p-126});
  return std::ldexp(std::fabs(got - expected), 23 - std::ilogb(size));
}

std::vector<double> Points() {
  std::set<float> points = {0};
  const auto near = [&](float x) {
    for (const float y : {x, std::nextafter(x, 0.0f), std::nextafter(x, 1e30f)})
      points.insert({y, -y});
  };
  for (const float x :
       {1e-37f, 1e-30f,     1e-19f, 1e-10f, 1e-7f, 1e-5f, 1e-3f, 0.1f,
        0.25f,  0.5f,       1.0f,   1.5f,   2.0f,  2.5f,  3.0f,  3.5f,
        4.0f,   5.0f,       6.0f,   10.0f,  20.0f, 50.0f, 88.0f, 100.0f,
        1e4f,   8388609.0f, 1e9f,   1e15f,  1e19f, 1e30f, 3e38f})
    near(x);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> exponent(-36, 38), number(-12, 12);
  for (int i = 0; i < 3000; ++i) {
    const float size = std::pow(10.0f, exponent(random));
    points.insert({size, -size, number(random), number(random) / 12});
  }
  std::vector<double> values(points.begin(), points.end());
  values.insert(values.end(), {kInfinity, -kInfinity, kNan});
  return values;
}

StatusOr<std::vector<Numbers>> RunRow(const ops::ScalarFunction& row,
                                      const Numbers& x) {
  graph::GraphBuilder builder("function");
  const ops::Tensor input(
      &builder, builder.Input("x", {DType::kF32, {graph::Dim(x.dims[0])}}));
  builder.Output("y", row.apply(input, row.a, row.b).value());
  return RunOnNumbers(builder.Finish(), {x});
}

TEST(Functions, ErrorsOfAllRows) {
  const std::vector<double> points = Points();
  const Numbers x = F32({static_cast<int64_t>(points.size())}, points);
  std::printf("%-26s %8s %8s  %s\n", "function", "error", "bound", "at");
  for (size_t i = 0; i < ops::ScalarFunctions().size(); ++i) {
    const ops::ScalarFunction& row = ops::ScalarFunctions()[i];
    SCOPED_TRACE(std::string(row.name));
    const StatusOr<std::vector<Numbers>> results = RunRow(row, x);
    ASSERT_TRUE(results.ok()) << results.status().message();
    double worst = 0, at = 0, got = 0, wanted = 0;
    for (size_t k = 0; k < points.size(); ++k) {
      const double expected = kReferences[i](
          points[k], static_cast<float>(row.a), static_cast<float>(row.b));
      const double found = (*results)[0].values[k];
      const double error = ErrorOf(found, expected, row.floor);
      if (error <= worst) continue;
      worst = error;
      at = points[k];
      got = found;
      wanted = expected;
    }
    std::printf("%-26s %8.3g %8.3g  %.9g\n", std::string(row.name).c_str(),
                worst, row.bound, at);
    EXPECT_LE(worst, row.bound) << row.expression << " at " << at << " gives "
                                << got << ", expected " << wanted;
  }
}

TEST(Functions, HaveARowForEachUnaryInstruction) {
  std::set<std::string_view> names;
  for (const ops::ScalarFunction& row : ops::ScalarFunctions())
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
#define EMBER_ROW(name, ...)                                   \
  EXPECT_TRUE(names.contains(#name) ||                         \
              tensor::Opcode::k##name == tensor::Opcode::kNot) \
      << #name;
  EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
}

}  // namespace
}  // namespace ember::tests
