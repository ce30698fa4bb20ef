// Imports layers of elementwise functions, of one input or of several that
// broadcast, and reductions. Comparisons return 1 and 0.
#include <optional>
#include <string>
#include <vector>

#include "frontends/coreml/layer_table.h"
#include "frontends/coreml/matrices.h"
#include "frontends/ops/normalization.h"

namespace ember::coreml {
namespace {

// Combines all inputs by a binary operation. Inputs of different ranks get
// leading dims of 1, so that they broadcast.
Tensor Combined(LayerContext& c, Opcode opcode) {
  Tensor y = c.Input(0);
  for (int i = 1; i < c.input_count(); ++i) y = Binary(opcode, y, c.Input(i));
  return y;
}

// Returns the second operand: an input, or a number in a field of the layer.
Tensor Second(LayerContext& c, uint64_t field) {
  return c.input_count() > 1 ? c.Input(1)
                             : c.Input(0).Like(c.parameters().Float(field));
}

Tensor AsNumbers(const Tensor& condition) {
  return Cast(condition, DType::kF32);
}

Tensor AsCondition(const Tensor& x) { return NotEqual(x, 0); }

std::vector<int64_t> AllAxes(const Tensor& x) {
  std::vector<int64_t> axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  return axes;
}

template <typename Function>
void ReduceNd(LayerContext& c, const Function& function) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  std::vector<int64_t> axes = p.Integers(1);
  axes = p.Flag(3) || axes.empty() ? AllAxes(x) : c.Axes(axes, x.rank());
  if (!c.ok()) return;
  Tensor y = function(x, axes, p.Flag(2));
  // Core ML's reductions return at least one dim, so a scalar becomes [1].
  if (c.ok() && y.rank() == 0) y = Reshape(y, {Dim(1)});
  c.SetOutput(0, y);
}

Tensor SumOf(const Tensor& x, const std::vector<int64_t>& axes, bool keep) {
  return Reduce(x, "sum", axes, keep);
}

Tensor ArgOf(const Tensor& x, int axis, bool largest) {
  return Apply("arg_reduce", {x},
               {{"mode", std::string(largest ? "maximum" : "minimum")},
                {"axis", int64_t{axis}},
                {"last", int64_t{0}}});
}

void ImportArg(LayerContext& c, bool largest) {
  const Tensor x = c.Input(0);
  const int axis = c.Axis(c.parameters().Integer(1), x.rank());
  if (!c.ok()) return;
  const Tensor y = Cast(ArgOf(x, axis, largest), DType::kF32);
  c.SetOutput(
      0, c.parameters().Flag(2) && x.rank() > 1 ? y : Unsqueeze(y, {axis}));
}

}  // namespace

void ImportUnary(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const double epsilon = c.FloatOr(3, 1e-6), scale = c.FloatOr(5, 1);
  Tensor x = c.Input(0);
  if (scale != 1) x = x * scale;
  if (p.Float(4) != 0) x = x + p.Float(4);
  Tensor y;
  switch (p.Integer(1)) {
    case 0:
      y = Sqrt(x);
      break;
    case 1:
      y = Rsqrt(x + epsilon);
      break;
    case 2:
      y = Reciprocal(x + epsilon);
      break;
    case 3:
      y = Power(x, p.Float(2));
      break;
    case 4:
      y = Exp(x);
      break;
    case 5:
      y = Log(x);
      break;
    case 6:
      y = Absolute(x);
      break;
    case 7:
      y = Maximum(x, p.Float(2));
      break;
    default:
      return c.FailInvalid("type: expected 0 to 7, found " +
                           std::to_string(p.Integer(1)));
  }
  c.SetOutput(0, y);
}

void ImportAdd(LayerContext& c) {
  c.SetOutput(0, c.input_count() > 1 ? Combined(c, Opcode::kAdd)
                                     : c.Input(0) + c.parameters().Float(1));
}
void ImportMultiply(LayerContext& c) {
  c.SetOutput(0, c.input_count() > 1 ? Combined(c, Opcode::kMultiply)
                                     : c.Input(0) * c.parameters().Float(1));
}
void ImportAverage(LayerContext& c) {
  c.SetOutput(0,
              Combined(c, Opcode::kAdd) / static_cast<double>(c.input_count()));
}
void ImportMax(LayerContext& c) {
  c.SetOutput(0, Combined(c, Opcode::kMaximum));
}
void ImportMin(LayerContext& c) {
  c.SetOutput(0, Combined(c, Opcode::kMinimum));
}
void ImportAddBroadcastable(LayerContext& c) {
  c.SetOutput(0, Combined(c, Opcode::kAdd));
}
void ImportMultiplyBroadcastable(LayerContext& c) {
  c.SetOutput(0, Combined(c, Opcode::kMultiply));
}
void ImportSubtract(LayerContext& c) {
  c.SetOutput(0, c.Input(0) - c.Input(1));
}
void ImportDivide(LayerContext& c) { c.SetOutput(0, c.Input(0) / c.Input(1)); }
void ImportFloorDivide(LayerContext& c) {
  c.SetOutput(0, Floor(c.Input(0) / c.Input(1)));
}
void ImportPow(LayerContext& c) {
  c.SetOutput(0, Power(c.Input(0), c.Input(1)));
}
// Imports the remainder, which has the divisor's sign.
void ImportMod(LayerContext& c) {
  c.SetOutput(0, Modulo(c.Input(0), c.Input(1)));
}

// Reads the weights in `field`, whose shape is in `shape_field`: [1], [C], [1,
// H, W] or [C, H, W]. [C] becomes [C, 1, 1].
static Tensor Shaped(LayerContext& c, uint64_t shape_field, uint64_t field) {
  std::vector<int64_t> shape = c.parameters().Integers(shape_field);
  const Tensor numbers = c.Weights(c.parameters(), field, shape);
  if (shape.size() == 1)
    return Reshape(numbers, {Dim(shape[0]), Dim(1), Dim(1)});
  return numbers;
}
void ImportScale(LayerContext& c) {
  if (!c.CheckRank(0, 3)) return;
  Tensor y = c.Input(0) * Shaped(c, 1, 2);
  if (c.parameters().Flag(3)) y = y + Shaped(c, 4, 5);
  c.SetOutput(0, y);
}
void ImportBias(LayerContext& c) {
  if (c.CheckRank(0, 3)) c.SetOutput(0, c.Input(0) + Shaped(c, 1, 2));
}

void ImportDot(LayerContext& c) {
  if (!c.CheckRank(0, 3) || !c.CheckRank(1, 3)) return;
  Tensor a = c.Input(0), b = c.Input(1);
  const std::vector<int64_t> axes{a.rank() - 3};
  if (c.parameters().Flag(1)) {
    a = a / Sqrt(SumOf(a * a, axes, true));
    b = b / Sqrt(SumOf(b * b, {b.rank() - 3}, true));
  }
  c.SetOutput(0, SumOf(a * b, axes, true));
}

// Reduces channels, rows or columns, which become dims of 1.
void ImportReduce(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 3)) return;
  const int r = x.rank();
  const std::vector<int64_t> sets[] = {
      {r - 3, r - 2, r - 1}, {r - 2, r - 1}, {r - 3}, {r - 2}, {r - 1}};
  const int64_t which = p.Integer(3), mode = p.Integer(1);
  if (which < 0 || which > 4)
    return c.FailInvalid("axis: expected 0 to 4, found " +
                         std::to_string(which));
  const std::vector<int64_t>& axes = sets[which];
  Tensor y;
  switch (mode) {
    case 0:
      y = SumOf(x, axes, true);
      break;
    case 1:
      y = Mean(x, axes, true);
      break;
    case 2:
      y = Reduce(x, "product", axes, true);
      break;
    case 3:
      y = SumOf(Log(x + c.FloatOr(2, 1e-6)), axes, true);
      break;
    case 4:
      y = SumOf(x * x, axes, true);
      break;
    case 5:
      y = SumOf(Absolute(x), axes, true);
      break;
    case 6:
      y = Sqrt(SumOf(x * x, axes, true));
      break;
    case 7:
      y = Reduce(x, "maximum", axes, true);
      break;
    case 8:
      y = Reduce(x, "minimum", axes, true);
      break;
    case 9:
      if (axes.size() != 1)
        return c.FailInvalid("axis: expected one for the largest's place");
      y = Unsqueeze(
          Cast(ArgOf(x, static_cast<int>(axes[0]), true), DType::kF32), axes);
      break;
    default:
      return c.FailInvalid("mode: expected 0 to 9, found " +
                           std::to_string(mode));
  }
  c.SetOutput(0, y);
}

void ImportClip(LayerContext& c) {
  c.SetOutput(
      0, Clip(c.Input(0), c.parameters().Float(1), c.parameters().Float(2)));
}
// Imports ClampedReLU, which computes min(x, beta), with alpha * x in place of
// x below 0.
void ImportClampedRelu(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  c.SetOutput(0, Minimum(LeakyRelu(c.Input(0), p.Float(1)), p.Float(2)));
}

void ImportCumSum(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  const int axis = c.Axis(p.Integer(1), x.rank());
  if (c.ok()) c.SetOutput(0, RunningSum(x, axis, p.Flag(2), p.Flag(3)));
}

void ImportMatrixBandPart(LayerContext& c) {
  const auto limit = [&](uint64_t field) {
    const int64_t number = c.parameters().Integer(field);
    return number < 0 ? std::nullopt : std::optional(number);
  };
  if (c.CheckRank(0, 2)) c.SetOutput(0, Band(c.Input(0), limit(1), limit(2)));
}
void ImportLowerTriangular(LayerContext& c) {
  if (c.CheckRank(0, 2))
    c.SetOutput(0, Band(c.Input(0), std::nullopt, c.parameters().Integer(1)));
}
void ImportUpperTriangular(LayerContext& c) {
  const int64_t k = c.parameters().Integer(1);
  constexpr int64_t kFarthest = int64_t{1} << 40;
  if (c.CheckRank(0, 2) && c.CheckRange("k", k, -kFarthest, kFarthest))
    c.SetOutput(0, Band(c.Input(0), -k, std::nullopt));
}

void ImportGelu(LayerContext& c) {
  const Tensor x = c.Input(0);
  switch (c.parameters().Integer(1)) {
    case 0:
      return c.SetOutput(0, Gelu(x));
    case 1:
      return c.SetOutput(0, TanhGelu(x));
    default:
      return c.SetOutput(0, Swish(x, 1.702));
  }
}

void ImportEqual(LayerContext& c) {
  c.SetOutput(0, AsNumbers(Equal(c.Input(0), Second(c, 1))));
}
void ImportNotEqual(LayerContext& c) {
  c.SetOutput(0, AsNumbers(NotEqual(c.Input(0), Second(c, 1))));
}
void ImportLess(LayerContext& c) {
  c.SetOutput(0, AsNumbers(Less(c.Input(0), Second(c, 2))));
}
void ImportLessEqual(LayerContext& c) {
  c.SetOutput(0, AsNumbers(LessEqual(c.Input(0), Second(c, 2))));
}
void ImportGreater(LayerContext& c) {
  c.SetOutput(0, AsNumbers(Less(Second(c, 2), c.Input(0))));
}
void ImportGreaterEqual(LayerContext& c) {
  c.SetOutput(0, AsNumbers(LessEqual(Second(c, 2), c.Input(0))));
}
void ImportOr(LayerContext& c) {
  c.SetOutput(0,
              AsNumbers(Or(AsCondition(c.Input(0)), AsCondition(c.Input(1)))));
}
void ImportAnd(LayerContext& c) {
  c.SetOutput(0,
              AsNumbers(And(AsCondition(c.Input(0)), AsCondition(c.Input(1)))));
}
void ImportXor(LayerContext& c) {
  c.SetOutput(0, AsNumbers(NotEqual(AsNumbers(AsCondition(c.Input(0))),
                                    AsNumbers(AsCondition(c.Input(1))))));
}
void ImportNot(LayerContext& c) {
  c.SetOutput(0, AsNumbers(Equal(c.Input(0), 0)));
}
void ImportWhere(LayerContext& c) {
  c.SetOutput(0, Select(AsCondition(c.Input(0)), c.Input(1), c.Input(2)));
}

void ImportReduceL1(LayerContext& c) {
  ReduceNd(c, [](Tensor x, const auto& axes, bool keep) {
    return SumOf(Absolute(x), axes, keep);
  });
}
void ImportReduceL2(LayerContext& c) {
  ReduceNd(c, [](Tensor x, const auto& axes, bool keep) {
    return Sqrt(SumOf(x * x, axes, keep));
  });
}
void ImportReduceMax(LayerContext& c) {
  ReduceNd(c, [](Tensor x, const auto& axes, bool keep) {
    return Reduce(x, "maximum", axes, keep);
  });
}
void ImportReduceMin(LayerContext& c) {
  ReduceNd(c, [](Tensor x, const auto& axes, bool keep) {
    return Reduce(x, "minimum", axes, keep);
  });
}
void ImportReduceSum(LayerContext& c) { ReduceNd(c, SumOf); }
void ImportReduceProd(LayerContext& c) {
  ReduceNd(c, [](Tensor x, const auto& axes, bool keep) {
    return Reduce(x, "product", axes, keep);
  });
}
void ImportReduceMean(LayerContext& c) {
  ReduceNd(c, [](Tensor x, const auto& axes, bool keep) {
    return Mean(x, axes, keep);
  });
}
void ImportReduceLogSum(LayerContext& c) {
  ReduceNd(c, [](Tensor x, const auto& axes, bool keep) {
    return Log(SumOf(x, axes, keep));
  });
}
void ImportReduceSumSquare(LayerContext& c) {
  ReduceNd(c, [](Tensor x, const auto& axes, bool keep) {
    return SumOf(x * x, axes, keep);
  });
}
void ImportReduceLogSumExp(LayerContext& c) {
  ReduceNd(c, [](Tensor x, const auto& axes, bool keep) {
    const Tensor largest = Reduce(x, "maximum", axes, true);
    const Tensor y = Log(SumOf(Exp(x - largest), axes, true)) + largest;
    return keep ? y : Squeeze(y, axes);
  });
}
void ImportArgMax(LayerContext& c) { ImportArg(c, true); }
void ImportArgMin(LayerContext& c) { ImportArg(c, false); }

void ImportLayerNormalization(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  const std::vector<int64_t> shape = p.Integers(1);
  const int last = static_cast<int>(shape.size());
  if (last < 1 || !c.CheckRank(0, last)) return;
  std::vector<int64_t> axes;
  for (int i = x.rank() - last; i < x.rank(); ++i) axes.push_back(i);
  c.SetOutput(0, ops::Standardized(x, axes, c.FloatOr(2, 1e-5)) *
                         c.Weights(p, 3, shape) +
                     c.Weights(p, 4, shape));
}

void ImportSoftmaxNd(LayerContext& c) {
  const Tensor x = c.Input(0);
  c.SetOutput(0, Softmax(x, c.Axis(c.parameters().Integer(1), x.rank())));
}

void ImportBatchedMatmul(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  Tensor a = c.Input(0), b = c.Input(1);
  const auto transposed = [](const Tensor& x) {
    std::vector<int64_t> order;
    for (int i = 0; i < x.rank(); ++i) order.push_back(i);
    if (x.rank() >= 2) std::swap(order[x.rank() - 1], order[x.rank() - 2]);
    return Transpose(x, order);
  };
  if (c.input_count() == 2) {
    if (p.Flag(1)) a = transposed(a);
    if (p.Flag(2)) b = transposed(b);
    return c.SetOutput(0, MatMul(a, b));
  }
  // The layer stores its constant matrix column by column, so it is read as the
  // transposed matrix.
  b = c.Weights(p, 8, {p.Integer(6), p.Integer(5)});
  Tensor y = MatMul(a, Transpose(b, {1, 0}));
  if (p.Flag(7)) y = y + c.Weights(p, 9, {p.Integer(6)});
  c.SetOutput(0, y);
}

}  // namespace ember::coreml
