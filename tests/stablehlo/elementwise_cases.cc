// Makes the cases of operators on elements.
#include <cmath>
#include <functional>
#include <limits>

#include "tests/stablehlo/operator_cases.h"

namespace ember::tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

OperatorCase Unary(const std::string& name, Numbers x, Numbers y,
                   double tolerance = 1e-5) {
  return {"%r = " + name + " %a : (%A) -> %T",
          {std::move(x)},
          {std::move(y)},
          tolerance};
}

OperatorCase Binary(const std::string& name, Numbers a, Numbers b, Numbers y) {
  return {"%r = " + name + " %a, %b : (%A, %B) -> %T",
          {std::move(a), std::move(b)},
          {std::move(y)}};
}

struct FloatFunction {
  std::string name;
  std::function<double(double)> function;
  std::vector<double> values;
};

std::vector<FloatFunction> FloatFunctions() {
  const std::vector<double> any = {-2.5, -1.5, -0.5, 0, 0.5, 1.25, 3};
  const std::vector<double> positive = {0.25, 1, 2, 9.5};
  const std::vector<double> inside = {-0.9, -0.5, 0, 0.25, 0.75};
  return {
      {"stablehlo.abs", [](double x) { return std::abs(x); }, any},
      {"stablehlo.cbrt",
       [](double x) { return std::cbrt(x); },
       {-27, -0.001, 0, 1, 64, 1e-30}},
      {"stablehlo.ceil", [](double x) { return std::ceil(x); }, any},
      {"stablehlo.cosine", [](double x) { return std::cos(x); }, any},
      {"stablehlo.exponential", [](double x) { return std::exp(x); }, any},
      {"stablehlo.exponential_minus_one",
       [](double x) { return std::expm1(x); }, any},
      {"stablehlo.floor", [](double x) { return std::floor(x); }, any},
      {"stablehlo.log", [](double x) { return std::log(x); }, positive},
      {"stablehlo.log_plus_one", [](double x) { return std::log1p(x); },
       inside},
      {"stablehlo.logistic", [](double x) { return 1 / (1 + std::exp(-x)); },
       any},
      {"stablehlo.negate", [](double x) { return -x; }, any},
      {"stablehlo.round_nearest_afz",
       [](double x) { return std::round(x); },
       {-2.5, 0.4, 0.5, 0.6, 2.5, 0.49999997, -0.49999997, 8388609}},
      {"stablehlo.round_nearest_even",
       [](double x) { return std::nearbyint(x); },
       {-2.5, 0.4, 0.5, 0.6, 2.5, 3.5}},
      {"stablehlo.rsqrt", [](double x) { return 1 / std::sqrt(x); }, positive},
      {"stablehlo.sign", [](double x) { return x > 0   ? 1.0
                                               : x < 0 ? -1
                                                       : x; },
       any},
      {"stablehlo.sine", [](double x) { return std::sin(x); }, any},
      {"stablehlo.sqrt", [](double x) { return std::sqrt(x); }, positive},
      {"stablehlo.tan", [](double x) { return std::tan(x); }, inside},
      {"stablehlo.tanh", [](double x) { return std::tanh(x); }, any},
      {"stablehlo.real", [](double x) { return x; }, any},
      {"stablehlo.imag", [](double) { return 0.0; }, any},
      {"chlo.acos", [](double x) { return std::acos(x); }, inside},
      {"chlo.acosh", [](double x) { return std::acosh(x); }, {1, 2, 9}},
      {"chlo.asin", [](double x) { return std::asin(x); }, inside},
      {"chlo.asinh", [](double x) { return std::asinh(x); }, any},
      {"chlo.atan", [](double x) { return std::atan(x); }, any},
      {"chlo.atanh", [](double x) { return std::atanh(x); }, inside},
      {"chlo.conj", [](double x) { return x; }, any},
      {"chlo.cosh", [](double x) { return std::cosh(x); }, any},
      {"chlo.erf", [](double x) { return std::erf(x); }, any},
      {"chlo.lgamma",
       [](double x) { return std::lgamma(x); },
       {0.1, 0.5, 1, 1.5, 2, 10.25, 100, -0.5, -2.25, kInfinity}},
      {"chlo.sinh", [](double x) { return std::sinh(x); }, any},
      {"chlo.square", [](double x) { return x * x; }, any},
      {"chlo.tan", [](double x) { return std::tan(x); }, inside},
  };
}

void AddFloatFunctions(std::vector<OperatorCase>& cases) {
  for (const FloatFunction& row : FloatFunctions()) {
    std::vector<double> results;
    for (const double x : row.values) {
      const double stored = static_cast<float>(x);
      results.push_back(row.function(stored));
    }
    const auto count = static_cast<int64_t>(row.values.size());
    cases.push_back(
        Unary(row.name, F32({count}, row.values), F32({count}, results)));
  }
  // The results of erfc are divided by their expected size, so that the
  // relative errors of small results are compared.
  cases.push_back(
      {R"(
      %y = chlo.erfc %a : tensor<4xf64> -> tensor<4xf64>
      %r = stablehlo.divide %y, %b : tensor<4xf64>)",
       {Of(DType::kF64, {4}, {-1, 0.5, 2.5, 9}),
        Of(DType::kF64, {4},
           {std::erfc(-1), std::erfc(0.5), std::erfc(2.5), std::erfc(9)})},
       {Of(DType::kF64, {4}, {1, 1, 1, 1})},
       1e-12});
  cases.push_back({R"(
      %y = chlo.erf %a : tensor<6xf32> -> tensor<6xf32>
      %r = chlo.erf_inv %y : tensor<6xf32> -> tensor<6xf32>)",
                   {F32({6}, {-1.5, -0.25, 0, 0.5, 1, 2})},
                   {F32({6}, {-1.5, -0.25, 0, 0.5, 1, 2})}});
  cases.push_back(Unary("chlo.erf_inv", F32({3}, {-1, 1, 0.5}),
                        F32({3}, {-kInfinity, kInfinity, 0.4769362762044699})));
  // The expected digamma of 1 is -γ, and that of 1/2 is -γ - 2 ln 2, where γ is
  // Euler's constant.
  cases.push_back(Unary("chlo.digamma", F32({4}, {1, 0.5, 10, -0.5}),
                        F32({4}, {-0.5772156649015329, -1.9635100260214235,
                                  2.251752589066721, 0.03648997397857652})));
}

void AddIntegers(std::vector<OperatorCase>& cases) {
  const std::vector<Numbers> ab = {I32({4}, {17, -17, 17, -17}),
                                   I32({4}, {3, 3, -3, -3})};
  const auto integers = [&](const std::string& name,
                            std::vector<double> results) {
    cases.push_back(Binary(name, ab[0], ab[1], I32({4}, std::move(results))));
  };
  integers("stablehlo.add", {20, -14, 14, -20});
  integers("stablehlo.subtract", {14, -20, 20, -14});
  integers("stablehlo.multiply", {51, -51, -51, 51});
  integers("stablehlo.divide", {5, -5, -5, 5});
  integers("stablehlo.remainder", {2, -2, 2, -2});
  integers("stablehlo.maximum", {17, 3, 17, -3});
  integers("stablehlo.minimum", {3, -17, -3, -17});
  integers("stablehlo.and", {1, 3, 17, -19});
  integers("stablehlo.or", {19, -17, -3, -1});
  integers("stablehlo.xor", {18, -20, -20, 18});
  cases.push_back(Binary("stablehlo.power", I64({6}, {-2, -1, -36, 5, 3, 5}),
                         I64({6}, {0, 2, 1, -1, -1, 2}),
                         I64({6}, {1, 1, -36, 0, 0, 25})));
  cases.push_back(Binary("stablehlo.shift_left", I64({3}, {-1, 0, 1}),
                         I64({3}, {1, 2, 3}), I64({3}, {-2, 0, 8})));
  cases.push_back(Binary("stablehlo.shift_left", I8({3}, {1, 1, 1}),
                         I8({3}, {7, 8, -1}), I8({3}, {-128, 0, 0})));
  cases.push_back(Binary("stablehlo.shift_right_arithmetic",
                         I64({4}, {-1, 0, 8, -9}), I64({4}, {1, 2, 3, 64}),
                         I64({4}, {-1, 0, 1, -1})));
  cases.push_back(Binary("stablehlo.shift_right_arithmetic",
                         U8({2}, {0x80, 0x40}), U8({2}, {1, 1}),
                         U8({2}, {0xc0, 0x20})));
  cases.push_back(Binary("stablehlo.shift_right_logical", I32({3}, {-1, 0, 8}),
                         I32({3}, {1, 2, 3}), I32({3}, {0x7fffffff, 0, 1})));
  cases.push_back(Binary("stablehlo.shift_right_logical", I8({2}, {-1, -1}),
                         I8({2}, {8, 4}), I8({2}, {0, 15})));
  cases.push_back(Unary("stablehlo.not", I32({2}, {-2, 0}), I32({2}, {1, -1})));
  cases.push_back(
      Unary("stablehlo.not", Bools({2}, {1, 0}), Bools({2}, {0, 1})));
  cases.push_back(Binary("stablehlo.add", Bools({4}, {0, 0, 1, 1}),
                         Bools({4}, {0, 1, 0, 1}), Bools({4}, {0, 1, 1, 1})));
  cases.push_back(Binary("stablehlo.multiply", Bools({4}, {0, 0, 1, 1}),
                         Bools({4}, {0, 1, 0, 1}), Bools({4}, {0, 0, 0, 1})));
  cases.push_back(Unary("stablehlo.popcnt", I64({4}, {0, 1, 2, 127}),
                        I64({4}, {0, 1, 1, 7})));
  cases.push_back(
      Unary("stablehlo.popcnt", I8({3}, {-1, -128, 3}), I8({3}, {8, 1, 2})));
  cases.push_back(Unary("stablehlo.count_leading_zeros",
                        I64({2, 2}, {0, 1, 128, -1}),
                        I64({2, 2}, {64, 63, 56, 0})));
  cases.push_back(Unary("stablehlo.count_leading_zeros", U8({3}, {0, 1, 200}),
                        U8({3}, {8, 7, 0})));
  cases.push_back(
      Unary("stablehlo.sign", I32({3}, {-5, 0, 9}), I32({3}, {-1, 0, 1})));
}

void AddComparisons(std::vector<OperatorCase>& cases) {
  const auto compare = [&](const std::string& words, Numbers a, Numbers b,
                           std::vector<double> results) {
    const auto count = static_cast<int64_t>(results.size());
    const size_t comma = words.find(',');
    const std::string kind =
        comma == std::string::npos ? "" : words.substr(comma);
    cases.push_back({"%r = stablehlo.compare " + words.substr(0, comma) +
                         ", %a, %b" + kind + " : (%A, %B) -> %T",
                     {std::move(a), std::move(b)},
                     {Bools({count}, std::move(results))}});
  };
  const Numbers a = F32({6}, {-0.0, 0, kNan, 1, kNan, -kInfinity});
  const Numbers b = F32({6}, {0, 0, kNan, kNan, 1, 5});
  compare("EQ", a, b, {1, 1, 0, 0, 0, 0});
  compare("NE, FLOAT", a, b, {0, 0, 1, 1, 1, 1});
  compare("LT, FLOAT", a, b, {0, 0, 0, 0, 0, 1});
  compare("GE, FLOAT", a, b, {1, 1, 0, 0, 0, 0});
  compare("LT, TOTALORDER", a, b, {1, 0, 0, 1, 0, 1});
  compare("EQ, TOTALORDER", a, b, {0, 1, 1, 0, 0, 0});
  compare("GT, SIGNED", I32({2}, {-1, 1}), I32({2}, {1, -1}), {0, 1});
  compare("LE, UNSIGNED", U8({2}, {255, 1}), U8({2}, {1, 1}), {0, 1});
  cases.push_back(
      {"%r = chlo.broadcast_compare %a, %b {comparison_direction = "
       "#chlo<comparison_direction LT>} : (%A, %B) -> %T",
       {I32({2, 1}, {1, 5}), I32({2}, {2, 6})},
       {Bools({2, 2}, {1, 1, 0, 1})}});
}

void AddConversions(std::vector<OperatorCase>& cases) {
  cases.push_back(Unary("stablehlo.convert", F32({4}, {-1.75, 0.5, 2.5, 300}),
                        I32({4}, {-1, 0, 2, 300})));
  cases.push_back(Unary("stablehlo.convert", F32({3}, {0, -0.5, kNan}),
                        Bools({3}, {0, 1, 1})));
  cases.push_back(
      Unary("stablehlo.convert", Bools({2}, {0, 1}), F32({2}, {0, 1})));
  cases.push_back(
      Unary("stablehlo.convert", I32({2}, {257, -1}), U8({2}, {1, 255})));
  cases.push_back(Unary("stablehlo.convert", F32({2}, {1.0009765625, 65504}),
                        Of(DType::kF16, {2}, {1.0009765625, 65504})));
  cases.push_back(Unary("stablehlo.bitcast_convert", F32({2}, {1, -2}),
                        I32({2}, {0x3f800000, -0x40000000})));
  cases.push_back({"%r = stablehlo.bitcast_convert %a : (%A) -> %T",
                   {I32({1}, {0x04030201})},
                   {U8({1, 4}, {1, 2, 3, 4})}});
  cases.push_back({"%r = stablehlo.bitcast_convert %a : (%A) -> %T",
                   {U8({1, 4}, {0, 0, 0x80, 0x3f})},
                   {F32({1}, {1})}});
  // reduce_precision rounds to the precision and range of f16. 100000 is above
  // the largest f16 and becomes infinity. 1e-6 is below the smallest normal f16
  // and becomes 0.
  cases.push_back({"%r = stablehlo.reduce_precision %a, format = e5m10 : %T",
                   {F32({6}, {kInfinity, 0, 2049, 2051, 100000, 1e-6})},
                   {F32({6}, {kInfinity, 0, 2048, 2052, kInfinity, 0})}});
  cases.push_back({"%r = stablehlo.reduce_precision %a, format = e8m2 : %T",
                   {F32({3}, {1.125, 1.375, kNan})},
                   {F32({3}, {1, 1.5, kNan})}});
  cases.push_back(Unary("stablehlo.is_finite",
                        F32({4}, {1, kInfinity, -kInfinity, kNan}),
                        Bools({4}, {1, 0, 0, 0})));
  cases.push_back(Unary("chlo.is_inf",
                        F32({4}, {1, kInfinity, -kInfinity, kNan}),
                        Bools({4}, {0, 1, 1, 0})));
  cases.push_back(Unary("chlo.is_pos_inf",
                        F32({4}, {1, kInfinity, -kInfinity, kNan}),
                        Bools({4}, {0, 1, 0, 0})));
  cases.push_back(Unary("chlo.is_neg_inf",
                        F32({4}, {1, kInfinity, -kInfinity, kNan}),
                        Bools({4}, {0, 0, 1, 0})));
}

void AddComplex(std::vector<OperatorCase>& cases) {
  // The program computes (1 + 3i) (2 - i) + conj(i) = 5 + 4i.
  const std::string product = R"(
      %i = stablehlo.constant dense<(0.0, 1.0)> : tensor<1xcomplex<f32>>
      %x = stablehlo.complex %a, %b : tensor<1xcomplex<f32>>
      %y = stablehlo.constant dense<[(2.0, -1.0)]> : tensor<1xcomplex<f32>>
      %xy = stablehlo.multiply %x, %y : tensor<1xcomplex<f32>>
      %j = chlo.conj %i : tensor<1xcomplex<f32>> -> tensor<1xcomplex<f32>>
      %z = stablehlo.add %xy, %j : tensor<1xcomplex<f32>>
      %n = stablehlo.negate %z : tensor<1xcomplex<f32>>
      %s = stablehlo.reshape %n : (tensor<1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
)";
  cases.push_back({product +
                       "%r = stablehlo.imag %s : (tensor<1x1xcomplex<f32>>) "
                       "-> tensor<1x1xf32>",
                   {F32({1}, {1}), F32({1}, {3})},
                   {F32({1, 1}, {-4})}});
  cases.push_back({product +
                       "%r = stablehlo.real %s : (tensor<1x1xcomplex<f32>>) "
                       "-> tensor<1x1xf32>",
                   {F32({1}, {1}), F32({1}, {3})},
                   {F32({1, 1}, {-5})}});
  cases.push_back({R"(
      %x = stablehlo.complex %a, %b : tensor<2xcomplex<f32>>
      %r = stablehlo.abs %x : (tensor<2xcomplex<f32>>) -> tensor<2xf32>)",
                   {F32({2}, {3, 3e30}), F32({2}, {-4, 4e30})},
                   {F32({2}, {5, 5e30})}});
}

}  // namespace

std::vector<OperatorCase> ElementwiseCases() {
  std::vector<OperatorCase> cases;
  AddFloatFunctions(cases);
  AddIntegers(cases);
  AddComparisons(cases);
  AddConversions(cases);
  AddComplex(cases);
  cases.push_back(Binary("stablehlo.atan2", F32({3}, {0, 1, -1}),
                         F32({3}, {0, 0, 0}),
                         F32({3}, {0, M_PI / 2, -M_PI / 2})));
  cases.push_back(Binary("stablehlo.power", F32({6}, {-2, 0, -36, 5, 3, 10000}),
                         F32({6}, {2, 0, 1.1, 2, -1, 10}),
                         F32({6}, {4, 1, kNan, 25, 0.333333343, kInfinity})));
  cases.push_back(Binary("stablehlo.divide", F32({2}, {1, -1}),
                         F32({2}, {4, 0}), F32({2}, {0.25, -kInfinity})));
  cases.push_back(Binary("stablehlo.remainder", F32({2}, {17.1, -17.1}),
                         F32({2}, {3, 3}), F32({2}, {2.1, -2.1})));
  cases.push_back(Binary("stablehlo.maximum", F32({2}, {kNan, 1}),
                         F32({2}, {1, 2}), F32({2}, {kNan, 2})));
  cases.push_back(Binary("stablehlo.minimum", F32({2}, {kNan, 1}),
                         F32({2}, {1, 2}), F32({2}, {kNan, 1})));
  cases.push_back(
      {"%r = stablehlo.clamp %a, %b, %c : (%A, %B, tensor<f32>) -> "
       "%T",
       {F32({}, {0}), F32({3}, {-5, 0.5, 5}), F32({}, {1})},
       {F32({3}, {0, 0.5, 1})}});
  cases.push_back({"%r = stablehlo.select %a, %b, %c : %A, %B",
                   {Bools({2}, {1, 0}), I32({2}, {1, 2}), I32({2}, {3, 4})},
                   {I32({2}, {1, 4})}});
  cases.push_back({"%r = stablehlo.select %a, %b, %c : %A, %B",
                   {Bools({}, {0}), I32({2}, {1, 2}), I32({2}, {3, 4})},
                   {I32({2}, {3, 4})}});
  for (const auto& [name, results] :
       std::vector<std::pair<std::string, std::vector<double>>>{
           {"add", {13, 15, 16, 18}},
           {"and", {2, 0, 1, 5}},
           {"divide", {3, 2, 4, 2}},
           {"maximum", {10, 10, 13, 13}},
           {"minimum", {3, 5, 3, 5}},
           {"multiply", {30, 50, 39, 65}},
           {"or", {11, 15, 15, 13}},
           {"remainder", {1, 0, 1, 3}},
           {"shift_left", {80, 320, 104, 416}},
           {"shift_right_arithmetic", {1, 0, 1, 0}},
           {"shift_right_logical", {1, 0, 1, 0}},
           {"subtract", {7, 5, 10, 8}},
           {"xor", {9, 15, 14, 8}}}) {
    cases.push_back(Binary("chlo.broadcast_" + name, I32({2, 1}, {10, 13}),
                           I32({2}, {3, 5}), I32({2, 2}, results)));
  }
  cases.push_back(Binary("chlo.broadcast_power", F32({2, 1}, {2, 3}),
                         F32({2}, {1, 2}), F32({2, 2}, {2, 4, 3, 9})));
  cases.push_back(Binary("chlo.broadcast_atan2", F32({2, 1}, {0, 1}),
                         F32({1}, {1}), F32({2, 1}, {0, M_PI / 4})));
  cases.push_back(
      {"%r = chlo.broadcast_select %a, %b, %c : (%A, %B, "
       "tensor<i32>) -> %T",
       {Bools({2}, {1, 0}), I32({2}, {1, 2}), I32({}, {7})},
       {I32({2}, {1, 7})}});
  cases.push_back({"%r = chlo.constant dense<[1, 2]> : tensor<2xi32>",
                   {},
                   {I32({2}, {1, 2})}});
  cases.push_back(
      {"%r = arith.constant dense<3> : tensor<2xi32>", {}, {I32({2}, {3, 3})}});
  return cases;
}

}  // namespace ember::tests
