// Tests operators on elements, numbers and types against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/torchscript/one_operator.h"

namespace ember::tests {
namespace {

std::vector<double> Map(const std::vector<double>& x,
                        const std::function<double(double)>& f) {
  std::vector<double> y;
  for (const double value : x) y.push_back(f(value));
  return y;
}
Numbers Bools(std::vector<int64_t> dims, std::vector<double> values) {
  return {DType::kBool, std::move(dims), std::move(values)};
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double HardGate(double x) { return std::clamp((x + 3) / 6, 0.0, 1.0); }

TEST(Elementwise, FunctionsOfFloats) {
  const std::vector<std::pair<std::string, std::function<double(double)>>>
      functions = {
          {"torch.abs(x0)", [](double x) { return std::abs(x); }},
          {"torch.neg(x0)", [](double x) { return -x; }},
          {"torch.reciprocal(x0)", [](double x) { return 1 / x; }},
          {"torch.sign(x0)", [](double x) { return x < 0 ? -1.0 : 1.0; }},
          {"torch.floor(x0)", [](double x) { return std::floor(x); }},
          {"torch.ceil(x0)", [](double x) { return std::ceil(x); }},
          {"torch.round(x0)", [](double x) { return std::nearbyint(x); }},
          {"torch.trunc(x0)", [](double x) { return std::trunc(x); }},
          {"torch.frac(x0)", [](double x) { return x - std::trunc(x); }},
          {"torch.square(x0)", [](double x) { return x * x; }},
          {"torch.exp(x0)", [](double x) { return std::exp(x); }},
          {"torch.exp2(x0)", [](double x) { return std::exp2(x); }},
          {"torch.expm1(x0)", [](double x) { return std::expm1(x); }},
          {"torch.sin(x0)", [](double x) { return std::sin(x); }},
          {"torch.cos(x0)", [](double x) { return std::cos(x); }},
          {"torch.tan(x0)", [](double x) { return std::tan(x); }},
          {"torch.atan(x0)", [](double x) { return std::atan(x); }},
          {"torch.sinh(x0)", [](double x) { return std::sinh(x); }},
          {"torch.cosh(x0)", [](double x) { return std::cosh(x); }},
          {"torch.tanh(x0)", [](double x) { return std::tanh(x); }},
          {"torch.asinh(x0)", [](double x) { return std::asinh(x); }},
          {"torch.erf(x0)", [](double x) { return std::erf(x); }},
          {"torch.erfc(x0)", [](double x) { return std::erfc(x); }},
          {"torch.sinc(x0)",
           [](double x) { return std::sin(M_PI * x) / (M_PI * x); }},
          {"torch.deg2rad(x0)", [](double x) { return x * M_PI / 180; }},
          {"torch.rad2deg(x0)", [](double x) { return x * 180 / M_PI; }},
          {"torch.pow(x0, 3)", [](double x) { return x * x * x; }},
          {"torch.pow(2, x0)", [](double x) { return std::exp2(x); }},
          {"torch.rsub(x0, 1)", [](double x) { return 1 - x; }},
          {"torch.add(x0, 2, alpha=3)", [](double x) { return x + 6; }},
          {"torch.sub(x0, 2, alpha=3)", [](double x) { return x - 6; }},
          {"torch.div(x0, 2)", [](double x) { return x / 2; }},
          {"torch.div(x0, 0.5, rounding_mode=\"floor\")",
           [](double x) { return std::floor(x / 0.5); }},
          {"torch.div(x0, 0.7, rounding_mode=\"trunc\")",
           [](double x) { return std::trunc(x / 0.7); }},
          {"torch.floor_divide(x0, 0.7)",
           [](double x) { return std::floor(x / 0.7); }},
          {"torch.remainder(x0, 0.75)",
           [](double x) { return x - 0.75 * std::floor(x / 0.75); }},
          {"torch.fmod(x0, 0.75)", [](double x) { return std::fmod(x, 0.75); }},
          {"torch.clamp(x0, -1, 1)",
           [](double x) { return std::clamp(x, -1.0, 1.0); }},
          {"torch.clamp_min(x0, 0.25)",
           [](double x) { return std::max(x, 0.25); }},
          {"torch.clamp(x0, max=0.25)",
           [](double x) { return std::min(x, 0.25); }},
          {"torch.round(x0, decimals=1)",
           [](double x) { return std::nearbyint(x * 10) / 10; }},
          {"torch.copysign(x0, -1)", [](double x) { return -std::abs(x); }},
          // The next rows are activations.
          {"torch.relu(x0)", [](double x) { return std::max(x, 0.0); }},
          {"torch.relu_(x0)", [](double x) { return std::max(x, 0.0); }},
          {"torch.relu6(torch.mul(x0, 10))",
           [](double x) { return std::clamp(x * 10, 0.0, 6.0); }},
          {"torch.leaky_relu(x0, 0.1)",
           [](double x) { return x < 0 ? x * 0.1 : x; }},
          {"torch.elu(x0, 2.)",
           [](double x) { return x > 0 ? x : 2 * std::expm1(x); }},
          {"torch.selu(x0)",
           [](double x) {
             return 1.0507009873554805 *
                    (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
           }},
          {"torch.celu(x0, 0.5)",
           [](double x) { return x > 0 ? x : 0.5 * std::expm1(x / 0.5); }},
          {"torch.sigmoid(x0)", Sigmoid},
          {"torch.log_sigmoid(x0)",
           [](double x) { return std::log(Sigmoid(x)); }},
          {"torch.silu(x0)", [](double x) { return x * Sigmoid(x); }},
          {"torch.mish(x0)",
           [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
          {"torch.gelu(x0)",
           [](double x) {
             return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
           }},
          {"torch.gelu(x0, approximate=\"tanh\")",
           [](double x) {
             return x * 0.5 *
                    (1 + std::tanh(std::sqrt(2 / M_PI) *
                                   (x + 0.044715 * x * x * x)));
           }},
          {"torch.hardtanh(x0, -0.5, 0.75)",
           [](double x) { return std::clamp(x, -0.5, 0.75); }},
          {"torch.hardsigmoid(x0)", HardGate},
          {"torch.hardswish(x0)", [](double x) { return x * HardGate(x); }},
          {"torch.hardshrink(x0, 0.6)",
           [](double x) { return std::abs(x) <= 0.6 ? 0 : x; }},
          {"torch.softshrink(x0, 0.6)",
           [](double x) { return x > 0.6    ? x - 0.6
                                 : x < -0.6 ? x + 0.6
                                            : 0; }},
          {"torch.softplus(x0, 2, 3)",
           [](double x) {
             return x * 2 > 3 ? x : std::log1p(std::exp(2 * x)) / 2;
           }},
          {"torch.softsign(x0)",
           [](double x) { return x / (1 + std::abs(x)); }},
          {"torch.tanhshrink(x0)", [](double x) { return x - std::tanh(x); }},
          {"torch.threshold(x0, 0.25, 9)",
           [](double x) { return x <= 0.25 ? 9 : x; }},
          {"torch.rrelu(x0, 0.1, 0.3, False)",
           [](double x) { return x < 0 ? x * 0.2 : x; }},
          {"torch.prelu(x0, torch.full([1], 0.25))",
           [](double x) { return x < 0 ? x * 0.25 : x; }},
      };
  const std::vector<double> x = {-2.5, -1.25, -0.5, 0.5, 1.5, 2};
  for (const auto& [expression, function] : functions)
    ExpectTorch(expression, {F32({6}, x)}, {F32({6}, Map(x, function))});
}

TEST(Elementwise, FunctionsOfPositiveFloats) {
  const std::vector<std::pair<std::string, std::function<double(double)>>>
      functions = {
          {"torch.sqrt(x0)", [](double x) { return std::sqrt(x); }},
          {"torch.rsqrt(x0)", [](double x) { return 1 / std::sqrt(x); }},
          {"torch.log(x0)", [](double x) { return std::log(x); }},
          {"torch.log1p(x0)", [](double x) { return std::log1p(x); }},
          {"torch.log2(x0)", [](double x) { return std::log2(x); }},
          {"torch.log10(x0)", [](double x) { return std::log10(x); }},
          {"torch.logit(x0)", [](double x) { return std::log(x / (1 - x)); }},
          {"torch.asin(x0)", [](double x) { return std::asin(x); }},
          {"torch.acos(x0)", [](double x) { return std::acos(x); }},
          {"torch.atanh(x0)", [](double x) { return std::atanh(x); }},
          {"torch.acosh(torch.add(x0, 1))",
           [](double x) { return std::acosh(x + 1); }},
          {"torch.pow(x0, -0.5)", [](double x) { return 1 / std::sqrt(x); }},
          {"torch.xlogy(x0, x0)", [](double x) { return x * std::log(x); }},
      };
  const std::vector<double> x = {0.125, 0.5, 0.75};
  for (const auto& [expression, function] : functions)
    ExpectTorch(expression, {F32({3}, x)}, {F32({3}, Map(x, function))});
}

TEST(Elementwise, OfTwoTensors) {
  const Numbers a = F32({3}, {3, -2, -1.5});
  const Numbers b = F32({3}, {1, 5, -1.5});
  const std::vector<std::pair<std::string, std::vector<double>>> cases = {
      {"torch.add(x0, x1, alpha=2)", {5, 8, -4.5}},
      {"torch.sub(x0, x1)", {2, -7, 0}},
      {"torch.mul(x0, x1)", {3, -10, 2.25}},
      {"torch.div(x0, x1)", {3, -0.4, 1}},
      {"torch.maximum(x0, x1)", {3, 5, -1.5}},
      {"torch.max(x0, x1)", {3, 5, -1.5}},
      {"torch.fmin(x0, x1)", {1, -2, -1.5}},
      {"torch.atan2(x0, x1)",
       {std::atan2(3, 1), std::atan2(-2, 5), std::atan2(-1.5, -1.5)}},
      {"torch.hypot(x0, x1)",
       {std::hypot(3, 1), std::hypot(2, 5), std::hypot(1.5, 1.5)}},
      {"torch.logaddexp(x0, x1)",
       {std::log(std::exp(3) + std::exp(1)),
        std::log(std::exp(-2) + std::exp(5)), -1.5 + std::log(2)}},
      {"torch.lerp(x0, x1, 0.25)", {2.5, -0.25, -1.5}},
      {"torch.addcmul(x0, x0, x1, value=2)", {9, -22, 3}},
      {"torch.addcdiv(x0, x0, x1)", {6, -2.4, -0.5}},
      {"torch.where(torch.lt(x0, 0), x0, x1)", {1, -2, -1.5}},
      {"torch.masked_fill(x0, torch.lt(x0, x1), 7)", {3, 7, -1.5}},
      {"torch.copysign(x0, x1)", {3, 2, -1.5}},
  };
  for (const auto& [expression, expected] : cases)
    ExpectTorch(expression, {a, b}, {F32({3}, expected)});
  const std::vector<std::pair<std::string, std::vector<double>>> questions = {
      {"torch.eq(x0, x1)", {0, 0, 1}},
      {"torch.ne(x0, x1)", {1, 1, 0}},
      {"torch.lt(x0, x1)", {0, 1, 0}},
      {"torch.le(x0, x1)", {0, 1, 1}},
      {"torch.gt(x0, x1)", {1, 0, 0}},
      {"torch.ge(x0, x1)", {1, 0, 1}},
      {"torch.gt(x0, 0)", {1, 0, 0}},
      {"torch.logical_and(x0, torch.sub(x0, 3))", {0, 1, 1}},
      {"torch.logical_or(torch.gt(x0, 0), torch.gt(x1, 0))", {1, 1, 0}},
      {"torch.logical_xor(torch.gt(x0, 0), torch.gt(x1, 0))", {0, 1, 0}},
      {"torch.logical_not(torch.gt(x0, 0))", {0, 1, 1}},
      {"torch.bitwise_not(torch.gt(x0, 0))", {0, 1, 1}},
      {"torch.__and__(torch.gt(x0, 0), torch.gt(x1, 0))", {1, 0, 0}},
      {"torch.isclose(x0, x1)", {0, 0, 1}},
  };
  for (const auto& [expression, expected] : questions)
    ExpectTorch(expression, {a, b}, {Bools({3}, expected)});
}

// Division of -7 by the f32 0.7 gives -10 after rounding, but the exact
// quotient is a little below -10, because the f32 0.7 is a little less than
// 0.7. The floor is therefore -11.
TEST(Elementwise, RemaindersOfFloats) {
  const Numbers a = F32({4}, {-7, 7, 7.5, -7.5});
  const Numbers b = F32({4}, {0.7, 0.7, -2, -2});
  const double part = 0.7f;
  const std::vector<std::pair<std::string, std::vector<double>>> cases = {
      {"torch.remainder(x0, x1)", {11 * part - 7, 7 - 10 * part, -0.5, -1.5}},
      {"torch.fmod(x0, x1)", {10 * part - 7, 7 - 10 * part, 1.5, -1.5}},
      {"torch.floor_divide(x0, x1)", {-11, 10, -4, 3}},
      {"torch.div(x0, x1, rounding_mode=\"floor\")", {-11, 10, -4, 3}},
  };
  for (const auto& [expression, expected] : cases)
    ExpectTorch(expression, {a, b}, {F32({4}, expected)});
  const double infinity = std::numeric_limits<double>::infinity();
  ExpectTorch("torch.floor_divide(x0, x1)",
              {F32({4}, {5, -5, 5, -5}), F32({4}, {infinity, infinity, 0, 0})},
              {F32({4}, {0, -1, infinity, -infinity})});
}

TEST(Elementwise, NotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Numbers x = F32({4}, {infinity, -infinity, std::nan(""), 2});
  ExpectTorch("torch.isnan(x0)", {x}, {Bools({4}, {0, 0, 1, 0})});
  ExpectTorch("torch.isinf(x0)", {x}, {Bools({4}, {1, 1, 0, 0})});
  ExpectTorch("torch.isfinite(x0)", {x}, {Bools({4}, {0, 0, 0, 1})});
  ExpectTorch("torch.nan_to_num(x0, 5., 6., 7.)", {x},
              {F32({4}, {6, 7, 5, 2})});
  ExpectTorch("torch.fmax(x0, torch.ones([4]))", {x},
              {F32({4}, {infinity, 1, 1, 2})});
  ExpectTorch("torch.masked_fill(x0, torch.isnan(x0), -inf)", {x},
              {F32({4}, {infinity, -infinity, -infinity, 2})});
}

TEST(Elementwise, Integers) {
  const Numbers a = I64({4}, {7, -7, 6, -1});
  const Numbers b = I64({4}, {2, 2, -4, 3});
  const std::vector<std::pair<std::string, std::vector<double>>> cases = {
      {"torch.add(x0, x1)", {9, -5, 2, 2}},
      {"torch.floor_divide(x0, x1)", {3, -4, -2, -1}},
      {"torch.div(x0, x1, rounding_mode=\"trunc\")", {3, -3, -1, 0}},
      {"torch.remainder(x0, x1)", {1, 1, -2, 2}},
      {"torch.fmod(x0, x1)", {1, -1, 2, -1}},
      {"torch.bitwise_and(x0, x1)", {2, 0, 4, 3}},
      {"torch.bitwise_or(x0, 1)", {7, -7, 7, -1}},
      {"torch.bitwise_xor(x0, x1)", {5, -5, -6, -4}},
      {"torch.bitwise_left_shift(x0, 1)", {14, -14, 12, -2}},
      {"torch.bitwise_right_shift(x0, 1)", {3, -4, 3, -1}},
      {"torch.abs(x0)", {7, 7, 6, 1}},
      {"torch.pow(x0, 2)", {49, 49, 36, 1}},
      {"torch.clamp(x0, 0, 6)", {6, 0, 6, 0}},
      {"torch.sign(x0)", {1, -1, 1, -1}},
  };
  for (const auto& [expression, expected] : cases)
    ExpectTorch(expression, {a, b}, {I64({4}, expected)});
}

// Tests type promotion: tensors with dims have priority over tensors without
// dims, and these over numbers. Among operands of one priority, the highest
// category (bool, integer, float) decides.
TEST(Elementwise, Promotion) {
  const Numbers i = I32({2}, {1, 2});
  const Numbers f = F32({2}, {0.5, 1.5});
  const Numbers d = {DType::kF64, {}, {2}};
  const Numbers h = {DType::kF16, {2}, {1, 2}};
  const Numbers b = Bools({2}, {1, 0});
  ExpectTorch("torch.add(x0, 1)", {i}, {I32({2}, {2, 3})});
  ExpectTorch("torch.add(x0, 1.5)", {i}, {F32({2}, {2.5, 3.5})});
  ExpectTorch("torch.div(x0, 2)", {i}, {F32({2}, {0.5, 1})});
  ExpectTorch("torch.mul(x0, x1)", {i, f}, {F32({2}, {0.5, 3})});
  // A tensor without dims does not widen one with dims.
  ExpectTorch("torch.mul(x0, x1)", {f, d}, {F32({2}, {1, 3})});
  ExpectTorch("torch.mul(x0, x1)", {i, d}, {{DType::kF64, {2}, {2, 4}}});
  ExpectTorch("torch.mul(x0, 0.5)", {h}, {{DType::kF16, {2}, {0.5, 1}}});
  ExpectTorch("torch.add(x0, x1)", {h, f}, {F32({2}, {1.5, 3.5})});
  ExpectTorch("torch.add(x0, x1)", {b, i}, {I32({2}, {2, 2})});
  ExpectTorch("torch.add(x0, 1)", {b}, {I64({2}, {2, 1})});
  ExpectTorch("torch.add(x0, x1)", {U8({1}, {200}), I8({1}, {-1})},
              {{DType::kI16, {1}, {199}}});
  ExpectTorch("torch.sqrt(x0)", {I64({1}, {4})}, {F32({1}, {2})});
  ExpectTorch("torch.sum(x0)", {i}, {I64({}, {3})});
  ExpectTorch("torch.sum(x0)", {b}, {I64({}, {1})});
  ExpectTorch("torch.cat([x0, x1])", {i, f}, {F32({4}, {1, 2, 0.5, 1.5})});
  ExpectTorch("torch.to(x0, 4)", {f}, {I64({2}, {0, 1})});
  ExpectTorch("torch.to(x0, dtype=11)", {f}, {Bools({2}, {1, 1})});
  ExpectTorch("torch.type_as(x0, x1)", {f, i}, {I32({2}, {0, 1})});
  // An operator that works in place keeps the type of its operand.
  ExpectTorch("torch.mul_(x0, 1.5)", {i}, {I32({2}, {1, 3})});
}

TEST(Elementwise, NumbersOfTheCode) {
  const std::vector<std::pair<std::string, double>> cases = {
      {"torch.add(7, -2)", 5},
      {"torch.floordiv(-7, 2)", -4},
      {"torch.remainder(-7, 2)", 1},
      {"torch.div(7, 2)", 3.5},
      {"torch.mul(2.5, 2)", 5},
      {"torch.neg(3)", -3},
      {"torch.pow(2, 10)", 1024},
      {"ops.prim.min(3, 4.5)", 3},
      {"ops.prim.max([1, 9, 4])", 9},
      {"ops.prim.abs(-2)", 2},
      {"torch.ceil(2.1)", 3},
      {"torch.floor(-2.1)", -3},
      {"int(2.9)", 2},
      {"torch.sqrt(16)", 4},
      {"torch.len([1, 2, 3])", 3},
      {"([4, 5, 6])[-1]", 6},
      {"torch.len(torch.slice([1, 2, 3, 4], 1, None, 2))", 2},
      {"torch.__range_length(1, 10, 4)", 3},
      {"torch.__derive_index(2, 1, 4)", 9},
      {"torch.size(x0, 0)", 2},
      {"(torch.size(x0))[-1]", 3},
      {"torch.numel(x0)", 6},
      {"torch.dim(x0)", 2},
      {"ops.prim.dtype(x0)", 6},
      {"torch.len(x0)", 2},
  };
  for (const auto& [expression, expected] : cases) {
    ExpectTorch("torch.mul(torch.ones([1]), " + expression + ")",
                {F32({2, 3}, std::vector<double>(6))}, {F32({1}, {expected})});
  }
  const std::vector<std::pair<std::string, bool>> questions = {
      {"torch.eq([1, 2], [1, 2])", true},
      {"torch.ne([1, 2], [1, 3])", true},
      {"torch.lt(1, 2)", true},
      {"torch.ge(1, 2)", false},
      {"torch.__not__(True)", false},
      {"torch.__contains__([1, 2], 2)", true},
      {"torch.__contains__({\"a\": 1}, \"b\")", false},
      {"torch.__is__(None, None)", true},
      {"torch.__isnot__(x0, None)", true},
      {"torch.eq(\"a\", \"a\")", true},
      {"torch.is_floating_point(x0)", true},
      {"isinstance(x0, Tensor)", true},
      {"torch.eq(torch.format(\"{}-{}\", 1, [2, 3]), \"1-[2, 3]\")", true},
  };
  for (const auto& [expression, expected] : questions) {
    SCOPED_TRACE(expression);
    ExpectNumbers(
        RunTorch("if " + expression +
                     ":\n  y = torch.ones([1])\nelse:\n  y = torch.zeros([1])\n"
                     "return y",
                 {F32({2, 3}, std::vector<double>(6))}),
        {F32({1}, {expected ? 1.0 : 0.0})});
  }
}

}  // namespace
}  // namespace ember::tests
