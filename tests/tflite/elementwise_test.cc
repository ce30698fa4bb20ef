// Tests operators that compute element by element, against their formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/tflite/one_operator.h"

namespace ember::tests {
namespace {

using Code = schema::BuiltinOperator;

std::string NameOf(Code code) { return schema::EnumNameBuiltinOperator(code); }

struct UnaryCase {
  Code code;
  double (*formula)(double);
  std::vector<double> operands = {-2.5, -1, -0.25, 0, 0.5, 1, 1.5, 2.5, 7};
};

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const UnaryCase kUnary[] = {
    {Code::ABS, [](double x) { return std::abs(x); }},
    {Code::NEG, [](double x) { return -x; }},
    {Code::EXP, [](double x) { return std::exp(x); }},
    {Code::LOG, [](double x) { return std::log(x); }, {0.1, 1, 2, 100}},
    {Code::SQRT, [](double x) { return std::sqrt(x); }, {0, 0.25, 2, 9}},
    {Code::RSQRT, [](double x) { return 1 / std::sqrt(x); }, {0.25, 2, 9}},
    {Code::SQUARE, [](double x) { return x * x; }},
    {Code::SIN, [](double x) { return std::sin(x); }},
    {Code::COS, [](double x) { return std::cos(x); }},
    {Code::FLOOR, [](double x) { return std::floor(x); }},
    {Code::CEIL, [](double x) { return std::ceil(x); }},
    // ROUND rounds halves to even.
    {Code::ROUND, [](double x) { return std::nearbyint(x); }},
    {Code::SIGN, [](double x) { return x > 0   ? 1.0
                                       : x < 0 ? -1.0
                                               : 0.0; }},
    {Code::TANH, [](double x) { return std::tanh(x); }},
    {Code::LOGISTIC, Sigmoid},
    {Code::RELU, [](double x) { return std::max(x, 0.0); }},
    {Code::RELU6, [](double x) { return std::clamp(x, 0.0, 6.0); }},
    {Code::RELU_N1_TO_1, [](double x) { return std::clamp(x, -1.0, 1.0); }},
    {Code::RELU_0_TO_1, [](double x) { return std::clamp(x, 0.0, 1.0); }},
    {Code::ELU, [](double x) { return x < 0 ? std::expm1(x) : x; }},
    {Code::GELU,
     [](double x) { return x * 0.5 * (1 + std::erf(x * std::sqrt(0.5))); }},
    {Code::HARD_SWISH,
     [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }},
    {Code::ZEROS_LIKE, [](double) { return 0.0; }},
};

TEST(Elementwise, Unary) {
  for (const UnaryCase& test : kUnary) {
    SCOPED_TRACE(NameOf(test.code));
    const auto count = static_cast<int64_t>(test.operands.size());
    std::vector<double> expected;
    for (const double x : test.operands) expected.push_back(test.formula(x));
    OneOperator op(test.code);
    op.Input(F32({count}, test.operands)).Output(DType::kF32, {count});
    ExpectNumbers(op.Run(), {F32({count}, expected)});
  }
}

struct BinaryCase {
  Code code;
  double (*formula)(double, double);
  bool positive = false;
};

const BinaryCase kBinary[] = {
    {Code::ADD, [](double a, double b) { return a + b; }},
    {Code::SUB, [](double a, double b) { return a - b; }},
    {Code::MUL, [](double a, double b) { return a * b; }},
    {Code::DIV, [](double a, double b) { return a / b; }},
    {Code::MAXIMUM, [](double a, double b) { return std::max(a, b); }},
    {Code::MINIMUM, [](double a, double b) { return std::min(a, b); }},
    {Code::POW, [](double a, double b) { return std::pow(a, b); }, true},
    {Code::ATAN2, [](double a, double b) { return std::atan2(a, b); }},
    {Code::SQUARED_DIFFERENCE,
     [](double a, double b) { return (a - b) * (a - b); }},
    {Code::FLOOR_DIV, [](double a, double b) { return std::floor(a / b); }},
    {Code::FLOOR_MOD,
     [](double a, double b) { return a - b * std::floor(a / b); }},
    {Code::EQUAL, [](double a, double b) { return a == b ? 1.0 : 0.0; }},
    {Code::NOT_EQUAL, [](double a, double b) { return a != b ? 1.0 : 0.0; }},
    {Code::LESS, [](double a, double b) { return a < b ? 1.0 : 0.0; }},
    {Code::LESS_EQUAL, [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {Code::GREATER, [](double a, double b) { return a > b ? 1.0 : 0.0; }},
    {Code::GREATER_EQUAL,
     [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
};

// The operands are [2, 3] and [3], which broadcasts.
TEST(Elementwise, Binary) {
  for (const BinaryCase& test : kBinary) {
    SCOPED_TRACE(NameOf(test.code));
    std::vector<double> a = {-3, 1.5, 2, 5, -0.5, 4};
    const std::vector<double> b = {2, 1.5, -4};
    if (test.positive) {
      for (double& x : a) x = std::abs(x);
    }
    std::vector<double> expected;
    for (size_t i = 0; i < a.size(); ++i)
      expected.push_back(test.formula(a[i], b[i % 3]));
    const bool compares =
        test.code == Code::EQUAL || test.code == Code::NOT_EQUAL ||
        test.code == Code::LESS || test.code == Code::LESS_EQUAL ||
        test.code == Code::GREATER || test.code == Code::GREATER_EQUAL;
    const DType type = compares ? DType::kBool : DType::kF32;
    OneOperator op(test.code);
    op.Input(F32({2, 3}, a)).Input(F32({3}, b)).Output(type, {2, 3});
    ExpectNumbers(op.Run(), {{type, {2, 3}, expected}});
  }
}

TEST(Elementwise, FusedActivations) {
  using Activation = schema::ActivationFunctionType;
  const std::vector<double> a = {-7, -0.5, 0.5, 7};
  const std::pair<Activation, std::vector<double>> cases[] = {
      {Activation::RELU, {0, 0, 0.5, 7}},
      {Activation::RELU6, {0, 0, 0.5, 6}},
      {Activation::RELU_N1_TO_1, {-1, -0.5, 0.5, 1}},
      {Activation::TANH,
       {std::tanh(-7), std::tanh(-0.5), std::tanh(0.5), std::tanh(7)}},
      {Activation::SIGN_BIT, {1, 1, 0, 0}},
  };
  for (const auto& [activation, expected] : cases) {
    OneOperator op(Code::ADD);
    op.Input(F32({4}, a)).Input(F32({1}, {0})).Output(DType::kF32, {4});
    op.Options(schema::BuiltinOptions::AddOptions,
               schema::CreateAddOptions(op.fbb(), activation));
    ExpectNumbers(op.Run(), {F32({4}, expected)});
  }
}

TEST(Elementwise, Integers) {
  OneOperator shift(Code::RIGHT_SHIFT);
  shift.Input(I32({3}, {-8, 9, 1})).Input(I32({3}, {1, 2, 40}));
  shift.Output(DType::kI32, {3});
  ExpectNumbers(shift.Run(), {I32({3}, {-4, 2, 0})});
  OneOperator exclusive(Code::BITWISE_XOR);
  exclusive.Input(I32({2}, {6, 12})).Input(I32({2}, {3, 10}));
  exclusive.Output(DType::kI32, {2});
  ExpectNumbers(exclusive.Run(), {I32({2}, {5, 6})});
  OneOperator quotient(Code::FLOOR_DIV);
  quotient.Input(I32({2}, {-7, 7})).Input(I32({1}, {2}));
  quotient.Output(DType::kI32, {2});
  ExpectNumbers(quotient.Run(), {I32({2}, {-4, 3})});
}

TEST(Elementwise, Logic) {
  const Numbers a{DType::kBool, {4}, {0, 0, 1, 1}};
  const Numbers b{DType::kBool, {4}, {0, 1, 0, 1}};
  const std::pair<Code, std::vector<double>> cases[] = {
      {Code::LOGICAL_AND, {0, 0, 0, 1}}, {Code::LOGICAL_OR, {0, 1, 1, 1}}};
  for (const auto& [code, expected] : cases) {
    OneOperator op(code);
    op.Input(a).Input(b).Output(DType::kBool, {4});
    ExpectNumbers(op.Run(), {{DType::kBool, {4}, expected}});
  }
  OneOperator negation(Code::LOGICAL_NOT);
  negation.Input(b).Output(DType::kBool, {4});
  ExpectNumbers(negation.Run(), {{DType::kBool, {4}, {1, 0, 1, 0}}});
}

TEST(Elementwise, Choice) {
  const Numbers rows{DType::kBool, {2}, {1, 0}};
  OneOperator old(Code::SELECT);
  old.Input(rows).Input(F32({2, 2}, {1, 2, 3, 4}));
  old.Input(F32({2, 2}, {5, 6, 7, 8})).Output(DType::kF32, {2, 2});
  ExpectNumbers(old.Run(), {F32({2, 2}, {1, 2, 7, 8})});
  OneOperator broadcast(Code::SELECT_V2);
  broadcast.Input(rows).Input(F32({2, 2}, {1, 2, 3, 4}));
  broadcast.Input(F32({}, {0})).Output(DType::kF32, {2, 2});
  ExpectNumbers(broadcast.Run(), {F32({2, 2}, {1, 0, 3, 0})});
}

TEST(Elementwise, WithOptions) {
  OneOperator leaky(Code::LEAKY_RELU);
  leaky.Input(F32({3}, {-2, 0, 2})).Output(DType::kF32, {3});
  leaky.Options(schema::BuiltinOptions::LeakyReluOptions,
                schema::CreateLeakyReluOptions(leaky.fbb(), 0.25f));
  ExpectNumbers(leaky.Run(), {F32({3}, {-0.5, 0, 2})});
  OneOperator prelu(Code::PRELU);
  prelu.Input(F32({2, 2}, {-2, -2, 2, 2})).Constant(F32({2}, {0.5, 2}));
  prelu.Output(DType::kF32, {2, 2});
  ExpectNumbers(prelu.Run(), {F32({2, 2}, {-1, -4, 2, 2})});
  OneOperator gelu(Code::GELU);
  gelu.Input(F32({2}, {-1, 2})).Output(DType::kF32, {2});
  gelu.Options(schema::BuiltinOptions::GeluOptions,
               schema::CreateGeluOptions(gelu.fbb(), true));
  const auto approximate = [](double x) {
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  };
  ExpectNumbers(gelu.Run(), {F32({2}, {approximate(-1), approximate(2)})});
  OneOperator cast(Code::CAST);
  cast.Input(F32({3}, {-1.75, 0.5, 300})).Output(DType::kI32, {3});
  ExpectNumbers(cast.Run(), {I32({3}, {-1, 0, 300})});
  OneOperator bits(Code::BITCAST);
  bits.Input(F32({1}, {1})).Output(DType::kI32, {1});
  ExpectNumbers(bits.Run(), {I32({1}, {0x3f800000})});
  // The quantization steps are 0.5 apart, from -1 to 2.75, moved so that 0 is a
  // step.
  OneOperator fake(Code::FAKE_QUANT);
  fake.Input(F32({4}, {-3, 0.3, 0.2, 9})).Output(DType::kF32, {4});
  fake.Options(schema::BuiltinOptions::FakeQuantOptions,
               schema::CreateFakeQuantOptions(fake.fbb(), -1, 2, 3, true));
  ExpectNumbers(fake.Run(), {F32({4}, {-1, 0.5, 0, 2})});
  OneOperator sum(Code::ADD_N);
  sum.Input(F32({2}, {1, 2})).Input(F32({2}, {3, 4})).Input(F32({2}, {5, 6}));
  sum.Output(DType::kF32, {2});
  ExpectNumbers(sum.Run(), {F32({2}, {9, 12})});
}

TEST(Elementwise, AlongADim) {
  OneOperator softmax(Code::SOFTMAX);
  softmax.Input(F32({1, 2}, {1, 3})).Output(DType::kF32, {1, 2});
  softmax.Options(schema::BuiltinOptions::SoftmaxOptions,
                  schema::CreateSoftmaxOptions(softmax.fbb(), 0.5f));
  const double e = std::exp(1);
  ExpectNumbers(softmax.Run(), {F32({1, 2}, {1 / (1 + e), e / (1 + e)})});
  OneOperator logarithm(Code::LOG_SOFTMAX);
  logarithm.Input(F32({1, 2}, {0, 1})).Output(DType::kF32, {1, 2});
  ExpectNumbers(logarithm.Run(),
                {F32({1, 2}, {-std::log(1 + e), 1 - std::log(1 + e)})});
  OneOperator norm(Code::L2_NORMALIZATION);
  norm.Input(F32({1, 2}, {3, -4})).Output(DType::kF32, {1, 2});
  ExpectNumbers(norm.Run(), {F32({1, 2}, {0.6, -0.8})});
  // The formula is x / (bias + alpha * sum of squares of neighbours)^beta.
  OneOperator lrn(Code::LOCAL_RESPONSE_NORMALIZATION);
  lrn.Input(F32({1, 1, 1, 3}, {1, 2, 3})).Output(DType::kF32, {1, 1, 1, 3});
  lrn.Options(schema::BuiltinOptions::LocalResponseNormalizationOptions,
              schema::CreateLocalResponseNormalizationOptions(lrn.fbb(), 1, 2,
                                                              0.5f, 0.75f));
  const auto normalized = [](double x, double squares) {
    return x / std::pow(2 + 0.5 * squares, 0.75);
  };
  ExpectNumbers(lrn.Run(),
                {F32({1, 1, 1, 3}, {normalized(1, 5), normalized(2, 14),
                                    normalized(3, 13)})});
}

}  // namespace
}  // namespace ember::tests
