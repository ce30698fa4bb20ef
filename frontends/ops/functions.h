// The table of scalar functions. Every format takes its functions of one
// element from here, so that each of them has one definition and one bound of
// its error.
//
//   row(Sinh, ops::Sinh)                           // in a format's own table
//   c.SetOutput(ops::Elu(x, c.Number("alpha", 1)));
//
// A row is a function `Tensor Name(Tensor x)`, with one or two numbers behind x
// if the function has parameters. The columns:
//
//   instruction(name, bound, floor, expression)
//     the instruction of this name; tensor.h has the function
//   plain(name, bound, floor, expression)
//     a function without parameters
//   one(name, a, bound, floor, expression)
//   two(name, a, b, bound, floor, expression)
//     functions with parameters; a and b are those with which the error is
//     measured
//
// bound: the largest error in f32 on tier 0, in units of the last place of
// max(|result|, floor). A floor above 0 says that the expression cancels, or
// that it underflows too early: below the floor the error is absolute.
// tests/formats/functions_test.cc measures each row against a reference of the
// same name in f64. A row without its definition does not link, and one without
// its reference does not build.
//
// There are several rows, or a parameter, if formats differ in meaning:
//
//   rounding of halves   Round: to the even number; RoundHalfAway: away from 0
//   sign of NaN          Sign: NaN (ONNX, TensorFlow, StableHLO); SignNanZero:
//                        0 (PyTorch, MXNet, Caffe2, Core ML)
//   threshold            ThresholdedRelu: x > a; ThresholdedReluInclusive:
//                        x >= a (Core ML, activations of ONNX's RNNs)
//   hard sigmoid         HardSigmoid(x, 0.2, 0.5): Keras 2, ONNX, MXNet, Core
//                        ML; HardSigmoid6, with the slope 1/6: PyTorch, Keras 3
//
// f16 and bf16 follow docs/arithmetic.md. Operands must be floats, except for
// functions that are made of integer operators alone. Errors stay in the graph
// builder. Not thread-safe.
#ifndef EMBER_FRONTENDS_OPS_FUNCTIONS_H_
#define EMBER_FRONTENDS_OPS_FUNCTIONS_H_

#include <span>
#include <string_view>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Constants of SELU (Klambauer et al. 2017).
inline constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;

// clang-format off
#define EMBER_FOR_EACH_SCALAR_FUNCTION(instruction, plain, one, two) \
  instruction(Negate, 0, 0, "-x") \
  instruction(Absolute, 0, 0, "|x|") \
  instruction(Sign, 0, 0, "-1 or 1; zeros and NaN stay") \
  instruction(Floor, 0, 0, "the largest integer not above x") \
  instruction(Ceil, 0, 0, "the smallest integer not below x") \
  instruction(Round, 0, 0, "the nearest integer, halves to even") \
  instruction(Truncate, 0, 0, "the integer part") \
  instruction(Sqrt, 0.5, 0, "x^(1/2)") \
  instruction(Exp, 1.5, 0, "e^x") \
  instruction(Expm1, 2, 0, "e^x - 1") \
  instruction(Log, 1.5, 0, "log x") \
  instruction(Log1p, 2, 0, "log(1 + x)") \
  instruction(Sin, 2, 0, "sin x") \
  instruction(Cos, 2, 0, "cos x") \
  instruction(Tan, 2, 0, "tan x") \
  instruction(Asin, 2, 0, "arcsin x") \
  instruction(Acos, 2, 0, "arccos x") \
  instruction(Atan, 2, 0, "arctan x") \
  instruction(Sinh, 2, 0, "sinh x") \
  instruction(Cosh, 2, 0, "cosh x") \
  instruction(Tanh, 2.5, 0, "tanh x") \
  instruction(Asinh, 2, 0, "arsinh x") \
  instruction(Acosh, 2, 0, "arcosh x") \
  instruction(Atanh, 2, 0, "artanh x") \
  instruction(Erf, 1.5, 0, "erf x") \
  instruction(IsNan, 0, 0, "true for NaN") \
  instruction(IsInfinite, 0, 0, "true for infinity and -infinity") \
  plain(Square, 0.5, 0, "x^2") \
  plain(Cube, 1.5, 0, "x^3") \
  plain(Reciprocal, 0.5, 0, "1 / x") \
  plain(Rsqrt, 2, 0, "x^(-1/2), rounded once in narrow floats") \
  plain(Cbrt, 2, 0, "x^(1/3)") \
  plain(Exp2, 1.5, 0, "2^x") \
  plain(Log2, 2, 0, "log x / log 2") \
  plain(Log10, 2.5, 0, "log x / log 10") \
  plain(Fraction, 0, 0, "x - trunc x") \
  plain(RoundHalfAway, 0, 0, "the nearest integer, halves away from 0") \
  plain(SignNanZero, 0, 0, "-1, 0 or 1; 0 for NaN") \
  plain(IsFinite, 0, 0, "true for numbers") \
  plain(Degrees, 1.5, 0, "x 180 / pi") \
  plain(Radians, 1.5, 0, "x pi / 180") \
  plain(Erfc, 4, 0, "1 - erf x, accurate where it is small") \
  plain(ErfInverse, 1, 0, "the number whose erf is x") \
  plain(LogGamma, 1, 1, "log |gamma(x)|") \
  plain(Digamma, 1, 1, "the derivative of log gamma(x)") \
  plain(Relu, 0, 0, "max(x, 0)") \
  plain(Relu6, 0, 0, "min(max(x, 0), 6)") \
  plain(Sigmoid, 2.5, 1e-30, "1 / (1 + e^-x)") \
  plain(LogSigmoid, 2, 0, "log sigmoid(x)") \
  plain(Softplus, 2, 0, "log(1 + e^x)") \
  plain(Softsign, 2, 0, "x / (1 + |x|)") \
  plain(Silu, 3, 1e-29, "x sigmoid(x)") \
  plain(Mish, 4, 1e-30, "x tanh(softplus(x))") \
  plain(Gelu, 2, 1, "x times the normal probability below x") \
  plain(TanhGelu, 2, 1, "Gelu, approximated by a hyperbolic tangent") \
  plain(HardSigmoid6, 1.5, 0, "min(max(x + 3, 0), 6) / 6") \
  plain(HardSwish, 2.5, 0, "x HardSigmoid6(x)") \
  plain(TanhShrink, 1, 1, "x - tanh x") \
  plain(Selu, 2, 0, "kSeluScale Elu(x, kSeluAlpha)") \
  one(LeakyRelu, 0.01, 1, 0, "x, or a x below 0") \
  one(ThresholdedRelu, 1, 0, 0, "x if x > a, else 0") \
  one(ThresholdedReluInclusive, 1, 0, 0, "x if x >= a, else 0") \
  one(HardShrink, 0.5, 0, 0, "0 if |x| <= a, else x; NaN stays NaN") \
  one(Elu, 1.5, 2, 0, "x, or a (e^x - 1) below 0") \
  one(Celu, 1.5, 2.5, 0, "x, or a (e^(x/a) - 1) below 0") \
  one(Swish, 1.702, 2, 1, "x sigmoid(a x)") \
  one(Squareplus, 4, 3, 0, "(x + sqrt(x^2 + a)) / 2") \
  two(Linear, 1.5, 0.25, 1.5, 1, "a x + b") \
  two(Clip, -1, 1, 0, 0, "min(max(x, a), b)") \
  two(ScaledElu, 1.25, 1.5, 2, 0, "b Elu(x, a)") \
  two(ParametricSoftplus, 1.5, 0.5, 3, 0, "a log(1 + e^(b x))") \
  two(HardSigmoid, 0.2, 0.5, 1.5, 1, "min(max(a x + b, 0), 1)") \
  two(ScaledTanh, 1.7159, 0.6666667, 4, 0, "a tanh(b x)") \
  two(Shrink, 0.5, 0.25, 0.5, 0, "x - b above a, x + b below -a, 0 between")
// clang-format on

#define EMBER_INSTRUCTION(...)
#define EMBER_PLAIN(name, ...) Tensor name(Tensor x);
#define EMBER_ONE(name, ...) Tensor name(Tensor x, double a);
#define EMBER_TWO(name, ...) Tensor name(Tensor x, double a, double b);
EMBER_FOR_EACH_SCALAR_FUNCTION(EMBER_INSTRUCTION, EMBER_PLAIN, EMBER_ONE,
                               EMBER_TWO)
#undef EMBER_INSTRUCTION
#undef EMBER_PLAIN
#undef EMBER_ONE
#undef EMBER_TWO

// Versions of two functions whose parameters are tensors, which broadcast.
// LeakyRelu with a tensor of slopes is PReLU.
Tensor LeakyRelu(Tensor x, Tensor a);
Tensor ParametricSoftplus(Tensor x, Tensor a, Tensor b);

struct ScalarFunction {
  std::string_view name;
  std::string_view expression;
  double a, b;  // values of the parameters for which the error is measured
  double bound, floor;
  Tensor (*apply)(Tensor x, double a, double b);
};

// Returns all rows, in order.
std::span<const ScalarFunction> ScalarFunctions();

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_FUNCTIONS_H_
