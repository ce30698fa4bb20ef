// Imports operators of ai.onnx that were experimental and then removed (until
// ONNX 1.5). Converters of that time (WinML, CoreML, Caffe2) wrote them, so
// there are files that contain them.
#include <optional>
#include <string>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/functions.h"

namespace ember::onnx {
namespace {

void ImportAffine(NodeContext& c) {
  c.SetOutput(0, c.Input(0) * c.Float("alpha", 1) + c.Float("beta", 0));
}

void ImportScale(NodeContext& c) {
  c.SetOutput(0, c.Input(0) * c.Float("scale", 1));
}

// Reads a float attribute that must be present; nullopt after an error.
std::optional<double> RequiredFloat(NodeContext& c, const std::string& name) {
  if (c.HasAttribute(name)) return c.Float(name, 0);
  c.FailInvalid("expected attribute '" + name + "', found none");
  return std::nullopt;
}

void ImportParametricSoftplus(NodeContext& c) {
  const auto alpha = RequiredFloat(c, "alpha"), beta = RequiredFloat(c, "beta");
  if (alpha && beta)
    c.SetOutput(0, ParametricSoftplus(c.Input(0), *alpha, *beta));
}

void ImportScaledTanh(NodeContext& c) {
  const auto alpha = RequiredFloat(c, "alpha"), beta = RequiredFloat(c, "beta");
  if (alpha && beta) c.SetOutput(0, ScaledTanh(c.Input(0), *alpha, *beta));
}

void ImportImageScaler(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  Tensor x = c.Input(0);
  Tensor y = x * c.Float("scale", 1);
  if (const auto bias = c.Floats("bias"); bias && !bias->empty()) {
    const Dim channels(static_cast<int64_t>(bias->size()));
    if (x.dim(1).is_constant() && x.dim(1) != channels) {
      return c.FailInvalid(
          "attribute 'bias': expected one number for each of " +
          x.dim(1).ToString() + " channels, found " + channels.ToString());
    }
    if (x.dim(1) != channels) {
      const Shape& dims = x.shape();
      y = Apply("assume", {y},
                {{"shape", Shape{dims[0], channels, dims[2], dims[3]}}});
    }
    Tensor wide = c.Vector(DType::kF64, *bias);
    y = y + AlongAxis(Cast(wide, x.dtype()), 1, 4);
  }
  c.SetOutput(0, y);
}

// Imports Crop, which cuts off `border` (left, top, right, bottom). If `scale`
// (height, width) is given, the result has that size, from `border`'s left and
// top on.
void ImportCrop(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  Tensor x = c.Input(0);
  const auto border = c.Integers("border");
  const auto scale = c.Integers("scale");
  if (!c.ok()) return;
  if (!border || border->size() != 4) {
    return c.FailInvalid(
        "attribute 'border': expected 4 integers (left, top, right, bottom)");
  }
  const bool sized = scale && !scale->empty();
  if (sized && scale->size() != 2)
    return c.FailInvalid("attribute 'scale': expected 2 integers");
  constexpr int kLeft = 0, kTop = 1, kRight = 2, kBottom = 3;
  const auto cut = [&](int axis, int low, int high, int size) {
    const Dim extent =
        sized ? Dim((*scale)[size])
              : x.dim(axis) - Dim((*border)[low]) - Dim((*border)[high]);
    const Dim end = Dim((*border)[low]) + extent;
    if ((*border)[low] < 0 || RangeOf(extent).high < 0 ||
        RangeOf(x.dim(axis) - end).high < 0) {
      c.FailInvalid("expected a part of axis " + std::to_string(axis) +
                    " of size " + x.dim(axis).ToString() + ", found " +
                    std::to_string((*border)[low]) + " to " + end.ToString());
      return;
    }
    x = SliceAxis(x, axis, Dim((*border)[low]), extent);
  };
  cut(2, kTop, kBottom, 0);
  if (c.ok()) cut(3, kLeft, kRight, 1);
  c.SetOutput(0, x);
}

// Returns the shape of a constant-filling operator: the attribute `shape` if
// there is no operand; the operand's contents if input_as_shape is set; else
// the operand's shape. The attribute `extra_shape` is appended.
std::optional<Shape> FillShape(NodeContext& c) {
  Shape shape;
  if (!c.Input(0)) {
    const std::vector<int64_t> given = c.Integers("shape", {});
    shape.assign(given.begin(), given.end());
  } else if (c.Integer("input_as_shape", 0) != 0) {
    const std::optional<Shape> sizes = c.Sizes(0, "shape");
    if (!sizes) return std::nullopt;
    shape = *sizes;
  } else {
    shape = c.Input(0).shape();
  }
  for (int64_t dim : c.Integers("extra_shape", {})) shape.push_back(Dim(dim));
  for (const Dim& dim : shape) {
    if (RangeOf(dim).high >= 0) continue;
    c.FailInvalid("shape: expected sizes of 0 or more, found " +
                  dim.ToString());
  }
  if (shape.size() > kMaxRank) {
    c.FailInvalid("expected at most " + std::to_string(kMaxRank) +
                  " dims, found " + std::to_string(shape.size()));
  }
  if (!c.ok()) return std::nullopt;
  return shape;
}

void ImportConstantFill(NodeContext& c) {
  const std::optional<Shape> shape = FillShape(c);
  if (!shape) return;
  const DType type = c.TypeAttribute("dtype").value_or(DType::kF32);
  c.SetOutput(0, Broadcast(c.Scalar(c.Float("value", 0), type), *shape));
}

void ImportGivenTensorFill(NodeContext& c) {
  const std::optional<Shape> shape = FillShape(c);
  const auto values = c.Floats("values");
  if (!shape || !c.ok()) return;
  if (!values) return c.FailInvalid("attribute 'values' is missing");
  const Dim count(static_cast<int64_t>(values->size()));
  if (ElementCount(*shape) != count) {
    return c.FailInvalid("attribute 'values': expected " +
                         ElementCount(*shape).ToString() + " numbers, found " +
                         count.ToString());
  }
  Tensor wide = c.Vector(DType::kF64, *values);
  c.SetOutput(0, Reshape(Cast(wide, DType::kF32), *shape));
}

constexpr OperatorRow kRows[] = {
    {"Affine", 1, 1, 1, ImportAffine},
    {"ConstantFill", 1, 0, 1, ImportConstantFill},
    {"Crop", 1, 1, 1, ImportCrop},
    {"GivenTensorFill", 1, 0, 1, ImportGivenTensorFill},
    {"ImageScaler", 1, 1, 1, ImportImageScaler},
    {"ParametricSoftplus", 1, 1, 1, ImportParametricSoftplus},
    {"Scale", 1, 1, 1, ImportScale},
    {"ScaledTanh", 1, 1, 1, ImportScaledTanh},
};

}  // namespace

std::span<const OperatorRow> RetiredOperators() { return kRows; }

}  // namespace ember::onnx
