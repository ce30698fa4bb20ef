// Imports operators on elements: of one operand, of two (with Caffe2's own
// broadcasting and numpy's), of several; types and selection.
#include <string>
#include <vector>

#include "base/one_line.h"
#include "frontends/caffe2/operator_table.h"

namespace ember::caffe2 {

#define EMBER_CAFFE2_UNARY(name, expression) \
  void name(OperatorContext& c) {            \
    const Tensor x = c.Input(0);             \
    c.SetOutput(expression);                 \
  }
EMBER_CAFFE2_UNARY(ImportCopy, x)
EMBER_CAFFE2_UNARY(ImportScale, x* c.Number("scale", 1))
EMBER_CAFFE2_UNARY(ImportLeakyRelu, LeakyRelu(x, c.Number("alpha", 0.01)))
EMBER_CAFFE2_UNARY(ImportThresholdedRelu,
                   ThresholdedRelu(x, c.Number("alpha", 1)))
EMBER_CAFFE2_UNARY(ImportElu, Elu(x, c.Number("alpha", 1)))
EMBER_CAFFE2_UNARY(ImportSelu, ScaledElu(x, c.Number("alpha", ops::kSeluAlpha),
                                         c.Number("scale", ops::kSeluScale)))
EMBER_CAFFE2_UNARY(ImportHardSigmoid, HardSigmoid(x, c.Number("alpha", 0.2),
                                                  c.Number("beta", 0.5)))
EMBER_CAFFE2_UNARY(ImportCast, Cast(x, c.Type("to", DType::kF32)))
EMBER_CAFFE2_UNARY(ImportGelu,
                   c.Flag("fast_gelu", false) ? TanhGelu(x) : Gelu(x))
#undef EMBER_CAFFE2_UNARY

// Computes the logit of x, clamped away from 0 and 1.
void ImportLogit(OperatorContext& c) {
  const double epsilon = c.Number("eps", 1e-6);
  const Tensor x = Maximum(Minimum(c.Input(0), 1 - epsilon), epsilon);
  c.SetOutput(Log(x / (1.0 - x)));
}

void ImportDropout(OperatorContext& c) {
  if (!c.Flag("is_test", false)) {
    return c.FailUnsupported(
        "is_test: expected 1, as what is dropped in training is drawn");
  }
  const Tensor x = c.Input(0);
  c.SetOutput(0, x);
  c.SetOutput(1, Broadcast(c.Scalar(1, DType::kBool), x.shape()));
}

void ImportClip(OperatorContext& c) {
  Tensor x = c.Input(0);
  if (c.Has("min")) x = Maximum(x, c.Number("min", 0));
  if (c.Has("max")) x = Minimum(x, c.Number("max", 0));
  c.SetOutput(x);
}

void ImportPRelu(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1, 1)) return;
  const Tensor x = c.Input(0);
  Tensor slope = c.Input(1);
  if (slope.dim(0) != Dim(1)) {
    const int axis = c.ChannelsLast() || x.rank() < 2 ? x.rank() - 1 : 1;
    slope = AlongAxis(slope, axis, x.rank());
  }
  c.SetOutput(LeakyRelu(x, slope));
}

namespace {

// Returns the second operand in a shape that broadcasts to the first. If the
// argument "broadcast" is 1, as in nets before 2018, the second operand has one
// number, or dims equal to those of the first from "axis" on, or to its last
// ones. Otherwise numpy's rules apply.
Tensor SecondOperand(OperatorContext& c) {
  const Tensor a = c.Input(0);
  Tensor b = c.Input(1);
  if (!c.Flag("broadcast", false) || !c.ok()) return b;
  int64_t axis = c.Integer("axis", -1);
  const std::string word = c.Text("axis_str", "");
  if (axis == -1 && !word.empty()) {
    const size_t at = c.Text("order", "NCHW").find(word);
    if (word.size() != 1 || at == std::string::npos) {
      c.FailInvalid("axis_str: expected a letter of the order, found '" +
                    OnOneLine(word) + "'");
      return b;
    }
    axis = static_cast<int64_t>(at);
  }
  if (graph::ElementCount(b.shape()) == Dim(1))
    return Broadcast(Reshape(b, {}), a.shape());
  const int64_t spare = a.rank() - b.rank();
  if (axis == -1) axis = spare;
  if (axis < 0 || axis > spare) {
    // If the second operand does not fit at its axis, its trailing dims of 1
    // are dropped until it does.
    while (b.rank() > 1 && axis >= 0 && axis > a.rank() - b.rank() &&
           b.dim(-1) == Dim(1))
      b = Squeeze(b, {b.rank() - 1});
    if (axis < 0 || axis > a.rank() - b.rank()) {
      c.FailInvalid("input 1: expected dims of " +
                    graph::ShapeToString(a.shape()) + " from axis " +
                    std::to_string(axis) + " on, found " +
                    graph::ShapeToString(b.shape()));
      return b;
    }
  }
  Shape shape(static_cast<size_t>(axis), Dim(1));
  shape.insert(shape.end(), b.shape().begin(), b.shape().end());
  shape.resize(static_cast<size_t>(a.rank()), Dim(1));
  return Broadcast(Reshape(b, shape), a.shape());
}

}  // namespace

#define EMBER_CAFFE2_BINARY(name, expression)          \
  void name(OperatorContext& c) {                      \
    const Tensor a = c.Input(0), b = SecondOperand(c); \
    c.SetOutput(expression);                           \
  }
EMBER_CAFFE2_BINARY(ImportAdd, a + b)
EMBER_CAFFE2_BINARY(ImportSub, a - b)
EMBER_CAFFE2_BINARY(ImportMul, a* b)
EMBER_CAFFE2_BINARY(ImportDiv, a / b)
EMBER_CAFFE2_BINARY(ImportEqual, Equal(a, b))
EMBER_CAFFE2_BINARY(ImportNotEqual, NotEqual(a, b))
EMBER_CAFFE2_BINARY(ImportLess, Less(a, b))
EMBER_CAFFE2_BINARY(ImportLessEqual, LessEqual(a, b))
EMBER_CAFFE2_BINARY(ImportGreater, Less(b, a))
EMBER_CAFFE2_BINARY(ImportGreaterEqual, LessEqual(b, a))
EMBER_CAFFE2_BINARY(ImportAnd, And(a, b))
EMBER_CAFFE2_BINARY(ImportOr, Or(a, b))
EMBER_CAFFE2_BINARY(ImportXor,
                    NotEqual(Cast(a, DType::kI32), Cast(b, DType::kI32)))
#undef EMBER_CAFFE2_BINARY

// Imports Pow. The exponent is an argument, or the second operand.
void ImportPow(OperatorContext& c) {
  const Tensor x = c.Input(0);
  if (c.Has("exponent")) return c.SetOutput(Power(x, c.Number("exponent", 1)));
  if (!c.CheckRank(1, 0)) return;
  c.SetOutput(Power(x, SecondOperand(c)));
}

namespace {

template <typename Combine>
void Combined(OperatorContext& c, const Combine& combine) {
  Tensor result = c.Input(0);
  for (int i = 1; i < c.input_count(); ++i)
    result = combine(result, c.Input(i));
  c.SetOutput(result);
}

Tensor Sum(Tensor a, Tensor b) { return a + b; }
Tensor Larger(Tensor a, Tensor b) { return Maximum(a, b); }
Tensor Smaller(Tensor a, Tensor b) { return Minimum(a, b); }

}  // namespace

void ImportSum(OperatorContext& c) { Combined(c, Sum); }
void ImportMax(OperatorContext& c) { Combined(c, Larger); }
void ImportMin(OperatorContext& c) { Combined(c, Smaller); }
void ImportMean(OperatorContext& c) {
  Combined(c, Sum);
  c.SetOutput(c.Output(0) / static_cast<double>(c.input_count()));
}

void ImportWhere(OperatorContext& c) {
  Tensor condition = c.Input(0);
  // If enable_broadcast is set, a vector of conditions has one condition for
  // each row of the operands.
  if (c.Flag("enable_broadcast", false) && condition.rank() == 1)
    condition = AlongAxis(condition, 0, c.Input(1).rank());
  c.SetOutput(Select(condition, c.Input(1), c.Input(2)));
}

}  // namespace ember::caffe2
