// Imports operators on elements: of one operand, of two (with and without
// broadcasting), with a scalar; clipping, selection, types.
#include <string>
#include <vector>

#include "base/one_line.h"
#include "frontends/mxnet/operator_table.h"

namespace ember::mxnet {
namespace {

// Converts booleans to 1 and 0 in the operands' type, which is what MXNet's
// comparisons return.
Tensor AsNumber(Tensor truth, Tensor like) { return Cast(truth, like.dtype()); }
Tensor IsTrue(Tensor x) { return NotEqual(x, 0); }

double ScalarOf(NodeContext& c) { return c.Number("scalar", 0); }

// Returns numpy's remainder, which has the sign of the divisor; for floats it
// is 0 if the divisor is 0.
Tensor FloorModulo(Tensor a, Tensor b) {
  if (!a.is_float()) return Modulo(a, b);
  return Select(Equal(b, 0), a.Like(0), Modulo(a, b));
}

}  // namespace

#define EMBER_MXNET_UNARY(name, expression) \
  void name(NodeContext& c) {               \
    const Tensor x = c.Input(0);            \
    c.SetOutput(expression);                \
  }
EMBER_MXNET_UNARY(ImportIdentity, x)
EMBER_MXNET_UNARY(ImportLogicalNot, AsNumber(Equal(x, 0), x))
EMBER_MXNET_UNARY(ImportZerosLike, Broadcast(x.Like(0), x.shape()))
EMBER_MXNET_UNARY(ImportOnesLike, Broadcast(x.Like(1), x.shape()))
EMBER_MXNET_UNARY(ImportShape, c.Wrap(c.builder().ShapeValue(x.shape())))
#undef EMBER_MXNET_UNARY

#define EMBER_MXNET_BINARY(name, expression)     \
  void name(NodeContext& c) {                    \
    const Tensor a = c.Input(0), b = c.Input(1); \
    c.SetOutput(expression);                     \
  }                                              \
  void name##Scalar(NodeContext& c) {            \
    const Tensor a = c.Input(0);                 \
    const Tensor b = a.Like(ScalarOf(c));        \
    c.SetOutput(expression);                     \
  }
EMBER_MXNET_BINARY(ImportAdd, a + b)
EMBER_MXNET_BINARY(ImportSubtract, a - b)
EMBER_MXNET_BINARY(ImportMultiply, a* b)
EMBER_MXNET_BINARY(ImportDivide, a / b)
EMBER_MXNET_BINARY(ImportModulo, FloorModulo(a, b))
EMBER_MXNET_BINARY(ImportPower, Power(a, b))
EMBER_MXNET_BINARY(ImportMaximum, Maximum(a, b))
EMBER_MXNET_BINARY(ImportMinimum, Minimum(a, b))
EMBER_MXNET_BINARY(ImportHypot, Sqrt(a* a + b * b))
EMBER_MXNET_BINARY(ImportEqual, AsNumber(Equal(a, b), a))
EMBER_MXNET_BINARY(ImportNotEqual, AsNumber(NotEqual(a, b), a))
EMBER_MXNET_BINARY(ImportGreater, AsNumber(Less(b, a), a))
EMBER_MXNET_BINARY(ImportGreaterEqual, AsNumber(LessEqual(b, a), a))
EMBER_MXNET_BINARY(ImportLesser, AsNumber(Less(a, b), a))
EMBER_MXNET_BINARY(ImportLesserEqual, AsNumber(LessEqual(a, b), a))
EMBER_MXNET_BINARY(ImportLogicalAnd, AsNumber(And(IsTrue(a), IsTrue(b)), a))
EMBER_MXNET_BINARY(ImportLogicalOr, AsNumber(Or(IsTrue(a), IsTrue(b)), a))
EMBER_MXNET_BINARY(ImportLogicalXor,
                   AsNumber(NotEqual(Cast(IsTrue(a), DType::kI32),
                                     Cast(IsTrue(b), DType::kI32)),
                            a))
// In the _r…_scalar operators below, the scalar is the first operand and the
// tensor the second.
EMBER_MXNET_BINARY(ImportReverseSubtract, b - a)
EMBER_MXNET_BINARY(ImportReverseDivide, b / a)
EMBER_MXNET_BINARY(ImportReversePower, Power(b, a))
EMBER_MXNET_BINARY(ImportReverseModulo, FloorModulo(b, a))
#undef EMBER_MXNET_BINARY

void ImportAddN(NodeContext& c) {
  if (c.input_count() == 0) return c.FailInvalid("expected inputs, found none");
  Tensor sum = c.Input(0);
  for (int i = 1; i < c.input_count(); ++i) sum = sum + c.Input(i);
  c.SetOutput(sum);
}

void ImportClip(NodeContext& c) {
  c.SetOutput(Clip(c.Input(0), c.Number("a_min", 0), c.Number("a_max", 0)));
}

void ImportHardSigmoid(NodeContext& c) {
  c.SetOutput(
      HardSigmoid(c.Input(0), c.Number("alpha", 0.2), c.Number("beta", 0.5)));
}

void ImportSmoothL1(NodeContext& c) {
  const Tensor x = c.Input(0);
  const double scale = ScalarOf(c) == 0 ? 1 : ScalarOf(c);
  const double square = scale * scale;
  c.SetOutput(Select(Less(Absolute(x), 1 / square), x * x * (0.5 * square),
                     Absolute(x) - 0.5 / square));
}

void ImportCast(NodeContext& c) {
  c.SetOutput(Cast(c.Input(0), c.Type("dtype", DType::kF32)));
}

void ImportWhere(NodeContext& c) {
  if (!c.CheckRank(0, 0) || !c.CheckRank(1, 0) || !c.CheckRank(2, 0)) return;
  Tensor condition = c.Input(0);
  // If the condition of `where` is a vector, it has one element for each row of
  // the operands.
  if (condition.rank() == 1 && c.Input(1).rank() > 1)
    condition = AlongAxis(condition, 0, c.Input(1).rank());
  c.SetOutput(Select(IsTrue(condition), c.Input(1), c.Input(2)));
}

void ImportDivSqrtDim(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const Tensor extent = Cast(ops::DimScalar(c.builder(), x.dim(-1)), x.dtype());
  c.SetOutput(x / Sqrt(extent));
}

}  // namespace ember::mxnet
