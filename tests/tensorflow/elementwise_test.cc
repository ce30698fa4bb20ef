// Tests operators that compute element by element, against their formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "tests/tensorflow/one_op.h"

namespace ember::tests {
namespace {

using tensorflow::Flag;
using tensorflow::Float;
using tensorflow::Type;

struct UnaryCase {
  const char* op;
  double (*formula)(double);
  std::vector<double> operands = {-2.5, -1, -0.25, 0, 0.5, 1, 1.5, 2.5, 7};
};

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Selu(double x) {
  return 1.0507009873554805 * (x < 0 ? 1.6732632423543772 * std::expm1(x) : x);
}

const UnaryCase kUnary[] = {
    {"Abs", [](double x) { return std::abs(x); }},
    {"Neg", [](double x) { return -x; }},
    {"Sign", [](double x) { return x > 0   ? 1.0
                                   : x < 0 ? -1.0
                                           : 0.0; }},
    {"Floor", [](double x) { return std::floor(x); }},
    {"Ceil", [](double x) { return std::ceil(x); }},
    // Round rounds halves to even.
    {"Round", [](double x) { return std::nearbyint(x); }},
    {"Rint", [](double x) { return std::nearbyint(x); }},
    {"Sqrt", [](double x) { return std::sqrt(x); }, {0, 0.25, 2, 9}},
    {"Rsqrt", [](double x) { return 1 / std::sqrt(x); }, {0.25, 2, 9}},
    {"Exp", [](double x) { return std::exp(x); }},
    {"Expm1", [](double x) { return std::expm1(x); }},
    {"Log", [](double x) { return std::log(x); }, {0.1, 1, 2, 100}},
    {"Log1p", [](double x) { return std::log1p(x); }, {-0.5, 0, 1, 100}},
    {"Sin", [](double x) { return std::sin(x); }},
    {"Cos", [](double x) { return std::cos(x); }},
    {"Tan", [](double x) { return std::tan(x); }, {-1, 0, 0.5, 1.2}},
    {"Asin", [](double x) { return std::asin(x); }, {-1, -0.5, 0, 0.9}},
    {"Acos", [](double x) { return std::acos(x); }, {-1, -0.5, 0, 0.9}},
    {"Atan", [](double x) { return std::atan(x); }},
    {"Sinh", [](double x) { return std::sinh(x); }, {-2, 0, 1.5}},
    {"Cosh", [](double x) { return std::cosh(x); }, {-2, 0, 1.5}},
    {"Tanh", [](double x) { return std::tanh(x); }},
    {"Asinh", [](double x) { return std::asinh(x); }},
    {"Acosh", [](double x) { return std::acosh(x); }, {1, 1.5, 7}},
    {"Atanh", [](double x) { return std::atanh(x); }, {-0.9, 0, 0.5}},
    {"Erf", [](double x) { return std::erf(x); }},
    {"Erfc", [](double x) { return std::erfc(x); }, {-1, 0, 0.5}},
    {"Square", [](double x) { return x * x; }},
    {"Reciprocal", [](double x) { return 1 / x; }, {-2, 0.5, 4}},
    {"Inv", [](double x) { return 1 / x; }, {-2, 0.5, 4}},
    {"Sigmoid", Sigmoid},
    {"Softplus", [](double x) { return std::log1p(std::exp(x)); }},
    {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
    {"Relu", [](double x) { return std::max(x, 0.0); }},
    {"Relu6", [](double x) { return std::min(std::max(x, 0.0), 6.0); }},
    {"Elu", [](double x) { return x < 0 ? std::expm1(x) : x; }},
    {"Selu", Selu},
    // The factor 0.2 is the attribute's default.
    {"LeakyRelu", [](double x) { return x < 0 ? 0.2 * x : x; }},
    {"OnesLike", [](double) { return 1.0; }},
    {"ZerosLike", [](double) { return 0.0; }},
    {"Identity", [](double x) { return x; }},
    {"StopGradient", [](double x) { return x; }},
    {"CheckNumerics", [](double x) { return x; }},
};

TEST(Elementwise, Unary) {
  for (const UnaryCase& test : kUnary) {
    SCOPED_TRACE(test.op);
    const auto count = static_cast<int64_t>(test.operands.size());
    std::vector<double> expected;
    for (const double x : test.operands) expected.push_back(test.formula(x));
    OneOp op(test.op);
    op.Input(F32({count}, test.operands));
    ExpectNumbers(op.Run(), {F32({count}, expected)});
  }
}

struct BinaryCase {
  const char* op;
  double (*formula)(double, double);
};
const std::vector<double> kA = {-7, -2.5, 0, 0.5, 3, 8};
const std::vector<double> kB = {2, -1.5, 3, -0.25, 2, 3};

const BinaryCase kBinary[] = {
    {"Add", [](double a, double b) { return a + b; }},
    {"AddV2", [](double a, double b) { return a + b; }},
    {"Sub", [](double a, double b) { return a - b; }},
    {"Mul", [](double a, double b) { return a * b; }},
    {"Div", [](double a, double b) { return a / b; }},
    {"RealDiv", [](double a, double b) { return a / b; }},
    {"FloorDiv", [](double a, double b) { return std::floor(a / b); }},
    {"FloorMod", [](double a, double b) { return a - b * std::floor(a / b); }},
    {"Mod", [](double a, double b) { return std::fmod(a, b); }},
    {"TruncateMod", [](double a, double b) { return std::fmod(a, b); }},
    {"Maximum", [](double a, double b) { return std::max(a, b); }},
    {"Minimum", [](double a, double b) { return std::min(a, b); }},
    {"Atan2", [](double a, double b) { return std::atan2(a, b); }},
    {"SquaredDifference", [](double a, double b) { return (a - b) * (a - b); }},
    {"DivNoNan", [](double a, double b) { return b == 0 ? 0 : a / b; }},
    {"MulNoNan", [](double a, double b) { return b == 0 ? 0 : a * b; }},
    {"Xdivy", [](double a, double b) { return a == 0 ? 0 : a / b; }},
};

TEST(Elementwise, Binary) {
  for (const BinaryCase& test : kBinary) {
    SCOPED_TRACE(test.op);
    std::vector<double> expected;
    for (size_t i = 0; i < kA.size(); ++i)
      expected.push_back(test.formula(kA[i], kB[i]));
    OneOp op(test.op);
    op.Input(F32({6}, kA)).Input(F32({6}, kB));
    ExpectNumbers(op.Run(), {F32({6}, expected)});
  }
}

TEST(Elementwise, Comparisons) {
  const auto run = [](const char* op, std::vector<double> expected) {
    SCOPED_TRACE(op);
    OneOp test(op);
    test.Input(F32({3}, {1, 2, 3})).Input(F32({}, {2}));
    ExpectNumbers(test.Run(), {Bool({3}, std::move(expected))});
  };
  run("Equal", {0, 1, 0});
  run("NotEqual", {1, 0, 1});
  run("Less", {1, 0, 0});
  run("LessEqual", {1, 1, 0});
  run("Greater", {0, 0, 1});
  run("GreaterEqual", {0, 1, 1});
  OneOp near("ApproximateEqual");
  near.Input(F32({2}, {1, 2})).Input(F32({2}, {1.05, 2.2}));
  near.Attribute(Float("tolerance", 0.1f));
  ExpectNumbers(near.Run(), {Bool({2}, {1, 0})});
}

TEST(Elementwise, WhereAFactorIsZero) {
  const double nan = NAN, inf = INFINITY;
  OneOp divide("DivNoNan");
  divide.Input(F32({3}, {1, 0, 4})).Input(F32({3}, {0, 0, 2}));
  ExpectNumbers(divide.Run(), {F32({3}, {0, 0, 2})});
  OneOp multiply("MulNoNan");
  multiply.Input(F32({3}, {nan, inf, 4})).Input(F32({3}, {0, 0, 2}));
  ExpectNumbers(multiply.Run(), {F32({3}, {0, 0, 8})});
  OneOp logarithm("Xlogy");
  logarithm.Input(F32({2}, {0, 2})).Input(F32({2}, {0, M_E}));
  ExpectNumbers(logarithm.Run(), {F32({2}, {0, 2})});
  OneOp log1p("Xlog1py");
  log1p.Input(F32({2}, {0, 2})).Input(F32({2}, {-1, M_E - 1}));
  ExpectNumbers(log1p.Run(), {F32({2}, {0, 2})});
  OneOp quotient("Xdivy");
  quotient.Input(F32({2}, {0, 1})).Input(F32({2}, {0, 4}));
  ExpectNumbers(quotient.Run(), {F32({2}, {0, 0.25})});
}

TEST(Elementwise, Integers) {
  const auto run = [](const char* op, std::vector<double> expected) {
    SCOPED_TRACE(op);
    OneOp test(op);
    test.Input(I32({4}, {-7, 7, -7, 7})).Input(I32({4}, {2, 2, -2, -2}));
    ExpectNumbers(test.Run(), {I32({4}, std::move(expected))});
  };
  run("Div", {-3, 3, 3, -3});
  run("TruncateDiv", {-3, 3, 3, -3});
  run("FloorDiv", {-4, 3, 3, -4});
  run("FloorMod", {1, 1, -1, -1});
  run("Mod", {-1, 1, -1, 1});
  OneOp invert("Invert");
  invert.Input(I32({2}, {0, 5}));
  ExpectNumbers(invert.Run(), {I32({2}, {-1, -6})});
  const auto bits = [](const char* op, std::vector<double> expected) {
    SCOPED_TRACE(op);
    OneOp test(op);
    test.Input(I32({2}, {12, -8})).Input(I32({2}, {10, 2}));
    ExpectNumbers(test.Run(), {I32({2}, std::move(expected))});
  };
  bits("BitwiseAnd", {8, 0});
  bits("BitwiseOr", {14, -6});
  bits("BitwiseXor", {6, -6});
  bits("LeftShift", {12288, -32});
  bits("RightShift", {0, -2});
  OneOp count("PopulationCount");
  count.Input(U8({3}, {0, 7, 255}));
  ExpectNumbers(count.Run(), {U8({3}, {0, 3, 8})});
}

TEST(Elementwise, Logic) {
  OneOp test("LogicalAnd");
  test.Input(Bool({4}, {0, 0, 1, 1})).Input(Bool({4}, {0, 1, 0, 1}));
  ExpectNumbers(test.Run(), {Bool({4}, {0, 0, 0, 1})});
  OneOp either("LogicalOr");
  either.Input(Bool({4}, {0, 0, 1, 1})).Input(Bool({4}, {0, 1, 0, 1}));
  ExpectNumbers(either.Run(), {Bool({4}, {0, 1, 1, 1})});
  OneOp inverse("LogicalNot");
  inverse.Input(Bool({2}, {0, 1}));
  ExpectNumbers(inverse.Run(), {Bool({2}, {1, 0})});
  OneOp finite("IsFinite");
  finite.Input(F32({3}, {1, INFINITY, NAN}));
  ExpectNumbers(finite.Run(), {Bool({3}, {1, 0, 0})});
  OneOp infinite("IsInf");
  infinite.Input(F32({3}, {1, -INFINITY, NAN}));
  ExpectNumbers(infinite.Run(), {Bool({3}, {0, 1, 0})});
}

TEST(Elementwise, Choices) {
  // In Select, a condition with one dim chooses whole rows.
  OneOp rows("Select");
  rows.Input(Bool({2}, {1, 0}));
  rows.Input(F32({2, 2}, {1, 2, 3, 4})).Input(F32({2, 2}, {5, 6, 7, 8}));
  ExpectNumbers(rows.Run(), {F32({2, 2}, {1, 2, 7, 8})});
  // In SelectV2, the condition broadcasts as in numpy, so here it chooses
  // columns.
  OneOp columns("SelectV2");
  columns.Input(Bool({2}, {1, 0}));
  columns.Input(F32({2, 2}, {1, 2, 3, 4})).Input(F32({2, 2}, {5, 6, 7, 8}));
  ExpectNumbers(columns.Run(), {F32({2, 2}, {1, 6, 3, 8})});
  OneOp clip("ClipByValue");
  clip.Input(F32({3}, {-1, 0.5, 3})).Input(F32({}, {0})).Input(F32({}, {1}));
  ExpectNumbers(clip.Run(), {F32({3}, {0, 0.5, 1})});
}

TEST(Elementwise, Casts) {
  OneOp cast("Cast");
  cast.Input(F32({3}, {-1.5, 0, 2.5}));
  cast.Attribute(Type("DstT", tensorflow::DT_INT32));
  ExpectNumbers(cast.Run(), {I32({3}, {-1, 0, 2})});
  OneOp bits("Bitcast");
  bits.Input(F32({1}, {1})).Attribute(Type("type", tensorflow::DT_INT32));
  ExpectNumbers(bits.Run(), {I32({1}, {0x3f800000})});
}

TEST(Elementwise, SumOfMany) {
  OneOp sum("AddN");
  sum.Input(F32({2}, {1, 2})).Input(F32({2}, {3, 4})).Input(F32({2}, {5, 6}));
  ExpectNumbers(sum.Run(), {F32({2}, {9, 12})});
}

TEST(Elementwise, Softmax) {
  const double a = std::exp(1), b = std::exp(2), c = std::exp(4);
  OneOp softmax("Softmax");
  softmax.Input(F32({1, 3}, {1, 2, 4}));
  ExpectNumbers(
      softmax.Run(),
      {F32({1, 3}, {a / (a + b + c), b / (a + b + c), c / (a + b + c)})});
  OneOp logarithm("LogSoftmax");
  logarithm.Input(F32({1, 3}, {1, 2, 4}));
  const double sum = std::log(a + b + c);
  ExpectNumbers(logarithm.Run(), {F32({1, 3}, {1 - sum, 2 - sum, 4 - sum})});
}

// A model cannot have complex inputs or results, so each test makes complex
// numbers inside the graph and takes them apart again.
TEST(Complex, ArithmeticAndParts) {
  const std::complex<double> a(1, 2), b(3, -4);
  const auto run = [&](const char* op, std::complex<double> expected) {
    SCOPED_TRACE(op);
    tensorflow::GraphMaker graph;
    for (const char* name : {"ar", "ai", "br", "bi"})
      graph.Placeholder(name, tensorflow::DT_FLOAT, {1});
    graph.Node("a", "Complex", {"ar", "ai"});
    graph.Node("b", "Complex", {"br", "bi"});
    graph.Node("y", op, {"a", "b"});
    graph.Node("conjugate", "Conj", {"y"});
    graph.Node("real", "Real", {"y"});
    graph.Node("imaginary", "Imag", {"conjugate"});
    graph.Node("absolute", "ComplexAbs", {"y"});
    graph.Node("angle", "Angle", {"y"});
    ExpectNumbers(
        RunBytes(graph.Finish(),
                 {F32({1}, {1}), F32({1}, {2}), F32({1}, {3}), F32({1}, {-4})}),
        {F32({1}, {expected.real()}), F32({1}, {-expected.imag()}),
         F32({1}, {std::abs(expected)}), F32({1}, {std::arg(expected)})});
  };
  run("Add", a + b);
  run("Sub", a - b);
  run("Mul", a * b);
}

TEST(Complex, FourierTransforms) {
  const std::vector<double> signal = {1, 2, -1, 0.5, 3, -2};
  const size_t n = signal.size();
  std::vector<std::complex<double>> spectrum(n);
  for (size_t k = 0; k < n; ++k) {
    for (size_t j = 0; j < n; ++j) {
      spectrum[k] +=
          signal[j] * std::polar(1.0, -2 * M_PI * static_cast<double>(j * k) /
                                          static_cast<double>(n));
    }
  }
  std::vector<double> real, imaginary;
  for (size_t k = 0; k < n / 2 + 1; ++k) {
    real.push_back(spectrum[k].real());
    imaginary.push_back(spectrum[k].imag());
  }
  tensorflow::GraphMaker graph;
  graph.Placeholder("x", tensorflow::DT_FLOAT, {6});
  graph.Add(tensorflow::MakeInts("length", {6}));
  graph.Node("spectrum", "RFFT", {"x", "length"});
  graph.Node("real", "Real", {"spectrum"});
  graph.Node("imaginary", "Imag", {"spectrum"});
  graph.Node("again", "IRFFT", {"spectrum", "length"});
  graph.Add(tensorflow::MakeScalar("zero", 0));
  graph.Node("complex", "Complex", {"x", "zero"});
  graph.Node("all", "FFT", {"complex"});
  graph.Node("back", "IFFT", {"all"});
  graph.Node("signal", "Real", {"back"});
  ExpectNumbers(RunBytes(graph.Finish(), {F32({6}, signal)}),
                {F32({4}, real), F32({4}, imaginary), F32({6}, signal),
                 F32({6}, signal)});
}

}  // namespace
}  // namespace ember::tests
