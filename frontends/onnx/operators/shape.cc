// Shapes, and values made from them: Constant, Shape, Size, ConstantOfShape,
// Range, EyeLike …
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

void ImportConstant(NodeContext& c) {
  Tensor value;
  if (c.HasAttribute("value")) {
    value = c.TensorAttribute("value");
  } else if (c.HasAttribute("value_float")) {
    value = c.Scalar(c.Float("value_float", 0), DType::kF32);
  } else if (c.HasAttribute("value_floats")) {
    const std::vector<double> numbers =
        c.Floats("value_floats").value_or(std::vector<double>());
    value = c.Vector(DType::kF32,
                     std::vector<float>(numbers.begin(), numbers.end()));
  } else if (c.HasAttribute("value_int")) {
    value = Reshape(c.Integers64({c.Integer("value_int", 0)}), {});
  } else if (c.HasAttribute("value_ints")) {
    value = c.Integers64(c.Integers("value_ints", {}));
  } else if (c.HasAttribute("value_string")) {
    value = c.StringScalar(c.String("value_string", ""));
  } else if (c.HasAttribute("value_strings")) {
    value = c.StringVector(
        c.Strings("value_strings").value_or(std::vector<std::string>()));
  } else {
    return c.FailUnsupported(
        "expected one of the attributes value, value_float(s), value_int(s), "
        "value_string(s), found none");
  }
  c.SetOutput(0, value);
}

// Clamps the attribute start or end of Shape, which selects a range of dims, to
// 0 … rank. A negative bound counts from the end.
int64_t ClampAxis(int64_t axis, int64_t rank) {
  return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
}

void ImportShape(NodeContext& c) {
  const Shape& shape = c.Input(0).shape();
  const int64_t rank = static_cast<int64_t>(shape.size());
  const int64_t start = ClampAxis(std::max(c.Integer("start", 0), -rank), rank);
  const int64_t end = ClampAxis(std::max(c.Integer("end", rank), -rank), rank);
  Shape part;
  for (int64_t i = start; i < end; ++i) part.push_back(shape[i]);
  c.SetOutput(0, c.Wrap(c.builder().ShapeValue(part)));
}

void ImportSize(NodeContext& c) {
  c.SetOutput(0, DimScalar(c.builder(), ElementCount(c.Input(0).shape())));
}

void ImportConstantOfShape(NodeContext& c) {
  const std::optional<Shape> shape = c.Sizes(0, "shape");
  if (!shape) return;
  if (shape->size() > kMaxRank) {
    return c.FailInvalid("expected at most " + std::to_string(kMaxRank) +
                         " dims, found " + std::to_string(shape->size()));
  }
  Tensor value = c.TensorAttribute("value");
  if (!value) value = c.Scalar(0, DType::kF32);
  if (ElementCount(value.shape()) != Dim(1)) {
    return c.FailInvalid("attribute 'value': expected one element, found " +
                         graph::ShapeToString(value.shape()));
  }
  c.SetOutput(
      0, Broadcast(Reshape(value, {}), *shape).Marked(value.carried_type()));
}

// Returns the number of elements of a Range of integers. It is an expression of
// symbols if start or limit is one. The step must be a constant other than 0;
// otherwise it fails and returns nullopt.
std::optional<Dim> RangeSize(NodeContext& c, const Dim& start, const Dim& limit,
                             const Dim& delta) {
  constexpr int64_t kFar = int64_t{1} << 62;
  if (!delta.is_constant() || delta.constant() == 0 ||
      delta.constant() < -kFar) {
    c.FailUnsupported(
        "delta (input 2): expected a constant other than 0, found " +
        delta.ToString());
    return std::nullopt;
  }
  const Dim distance = delta.constant() > 0 ? limit - start : start - limit;
  return LargerOf(CeilDivide(distance, Dim(std::abs(delta.constant()))),
                  Dim(0));
}

void ImportIntegerRange(NodeContext& c, DType type) {
  const std::optional<Shape> start = c.Contents(0, "start");
  const std::optional<Shape> limit = c.Contents(1, "limit");
  const std::optional<Shape> delta =
      c.Input(2) ? c.Contents(2, "delta") : Shape{Dim(1)};
  if (!start || !limit || !delta) return;
  if (start->size() != 1 || limit->size() != 1 || delta->size() != 1) {
    return c.FailInvalid("expected scalars");
  }
  const std::optional<Dim> size =
      RangeSize(c, start->front(), limit->front(), delta->front());
  if (!size) return;
  Tensor steps = IotaVector(c.builder(), *size, DType::kI64);
  Tensor values = steps * DimScalar(c.builder(), delta->front());
  c.SetOutput(0, Cast(values + DimScalar(c.builder(), start->front()), type));
}

// Imports a Range whose bounds depend on data: the program computes the number
// of elements.
void ImportDynamicRange(NodeContext& c, DType type) {
  const DType wide = IsFloat(type) ? DType::kF64 : DType::kI64;
  Tensor bounds[3];
  for (int i = 0; i < 3; ++i) {
    bounds[i] =
        c.Input(i) ? Cast(Reshape(c.Input(i), {}), wide) : c.Scalar(1, wide);
  }
  const auto [start, limit, delta] = bounds;
  const Tensor distance = limit - start;
  Tensor count;
  if (IsFloat(type)) {
    count = Cast(Maximum(Ceil(distance / delta), 0), DType::kI64);
  } else {
    // The number of elements is distance / delta rounded up. Only a floor
    // division exists for integers, so it is computed as -floor(-distance /
    // delta).
    count = Maximum(-Binary(Opcode::kFloorDivide, -distance, delta), 0);
  }
  const std::optional<Shape> size = c.Sizes(count, "number of elements");
  if (!size) return;
  const Tensor steps = IotaVector(c.builder(), size->front(), wide);
  c.SetOutput(0, Cast(steps * delta + start, type));
}

// Imports Range. Only the operator of com.microsoft may omit the step, which is
// then 1.
void ImportRange(NodeContext& c) {
  const DType type = c.Input(0).dtype();
  if (!c.ok()) return;
  if (!IsFloat(type)) {
    return c.IsKnown(0) && c.IsKnown(1) && (!c.Input(2) || c.IsKnown(2))
               ? ImportIntegerRange(c, type)
               : ImportDynamicRange(c, type);
  }
  for (int i = 0; i < 3; ++i) {
    if (c.Input(i) && !c.builder().ConstantContents(c.Input(i).value()))
      return ImportDynamicRange(c, type);
  }
  const std::optional<double> start = c.ConstantNumber(0, "start");
  const std::optional<double> limit = c.ConstantNumber(1, "limit");
  const std::optional<double> delta =
      c.Input(2) ? c.ConstantNumber(2, "delta") : 1.0;
  if (!start || !limit || !delta) return;
  const double size = std::max(0.0, std::ceil((*limit - *start) / *delta));
  if (!(size < 1e9)) return c.FailInvalid("expected fewer than 1e9 elements");
  Tensor steps =
      IotaVector(c.builder(), Dim(static_cast<int64_t>(size)), DType::kF64);
  c.SetOutput(0, Cast(steps * *delta + *start, type));
}

void ImportEyeLike(NodeContext& c) {
  if (!c.CheckRank(0, 2, 2)) return;
  Tensor like = c.Input(0);
  const DType type = c.TypeAttribute("dtype").value_or(like.dtype());
  Tensor rows =
      AlongAxis(IotaVector(c.builder(), like.dim(0), DType::kI64), 0, 2);
  Tensor columns =
      AlongAxis(IotaVector(c.builder(), like.dim(1), DType::kI64), 1, 2);
  const double diagonal = static_cast<double>(c.Integer("k", 0));
  c.SetOutput(0, Cast(Equal(columns - rows, diagonal), type));
}

void ImportTrilu(NodeContext& c) {
  if (!c.CheckRank(0, 2)) return;
  Tensor x = c.Input(0);
  Tensor diagonal = c.Input(1) ? Reshape(Cast(c.Input(1), DType::kI64), {})
                               : c.Scalar(0, DType::kI64);
  const int rank = x.rank();
  Tensor rows = AlongAxis(IotaVector(c.builder(), x.dim(-2), DType::kI64),
                          rank - 2, rank);
  Tensor columns = AlongAxis(IotaVector(c.builder(), x.dim(-1), DType::kI64),
                             rank - 1, rank);
  Tensor offset = columns - rows;
  Tensor kept = c.Integer("upper", 1) != 0 ? LessEqual(diagonal, offset)
                                           : LessEqual(offset, diagonal);
  c.SetOutput(0, Select(kept, x, x.Like(0)));
}

// Imports a window of signal processing: a0 - a1 cos(2πi/n) + a2 cos(4πi/n) for
// element i, where n is the size, or the size minus 1 if the window is not
// periodic.
void ImportCosineWindow(NodeContext& c, double a0, double a1, double a2) {
  const std::optional<Shape> size = c.Sizes(0, "size");
  if (!size) return;
  if (size->size() != 1)
    return c.FailInvalid("size (input 0): expected one element");
  const DType type = c.TypeAttribute("output_datatype").value_or(DType::kF32);
  const bool periodic = c.Integer("periodic", 1) != 0;
  const Dim period = periodic ? size->front() : size->front() - Dim(1);
  Tensor position = IotaVector(c.builder(), size->front(), DType::kF64) *
                    (2 * M_PI) /
                    Cast(DimScalar(c.builder(), period), DType::kF64);
  c.SetOutput(0,
              Cast(a0 - Cos(position) * a1 + Cos(position * 2.0) * a2, type));
}

void ImportHannWindow(NodeContext& c) { ImportCosineWindow(c, 0.5, 0.5, 0); }
void ImportHammingWindow(NodeContext& c) {
  ImportCosineWindow(c, 25.0 / 46, 1 - 25.0 / 46, 0);
}
void ImportBlackmanWindow(NodeContext& c) {
  ImportCosineWindow(c, 0.42, 0.5, 0.08);
}

void ImportIdentity(NodeContext& c) { c.SetOutput(0, c.Input(0)); }

constexpr OperatorRow kRows[] = {
    {"BlackmanWindow", 17, 1, 1, ImportBlackmanWindow},
    {"Constant", 1, 0, 0, ImportConstant},
    {"ConstantOfShape", 9, 1, 1, ImportConstantOfShape},
    {"EyeLike", 9, 1, 1, ImportEyeLike},
    {"HammingWindow", 17, 1, 1, ImportHammingWindow},
    {"HannWindow", 17, 1, 1, ImportHannWindow},
    {"Identity", 1, 1, 1, ImportIdentity, "", Moves({0}), 0, Sequences::kTaken},
    {"Range", 11, 3, 3, ImportRange},
    {"Range", 1, 2, 3, ImportRange, "com.microsoft"},
    {"Shape", 1, 1, 1, ImportShape, "", CarriedTypes::kHandled},
    {"Size", 1, 1, 1, ImportSize, "", CarriedTypes::kHandled},
    {"Trilu", 14, 1, 2, ImportTrilu},
    {"Trilu", 1, 1, 2, ImportTrilu, "com.microsoft"},
};

}  // namespace

std::span<const OperatorRow> ShapeOperators() { return kRows; }

}  // namespace ember::onnx
