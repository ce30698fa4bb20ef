// Imports constants, and operators that move elements.
#include <algorithm>

#include "base/rounding.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/stablehlo/elements.h"
#include "frontends/stablehlo/operator_table.h"
#include "frontends/stablehlo/padding.h"

namespace ember::stablehlo {
namespace {

// Largest step of a slice, and largest amount of padding.
constexpr int64_t kLargest = int64_t{1} << 40;

Tensor ConstantOf(OperationContext& c, const Elements& elements,
                  std::string_view element, const Type& type) {
  const auto dtype = DTypeOf(element);
  if (!dtype) {
    c.FailUnsupported("unsupported element type '" + std::string(element) +
                      "' of a constant");
    return {&c.builder(), nullptr};
  }
  const std::vector<int64_t> dims =
      elements.splat ? std::vector<int64_t>() : type.dims;
  const Tensor constant(
      &c.builder(),
      c.builder().Constant(*dtype, dims,
                           {.owner = elements.owner, .bytes = elements.bytes}));
  if (!elements.splat) return constant;
  Shape shape;
  for (const int64_t dim : type.dims) shape.push_back(Dim(dim));
  return Broadcast(constant, shape);
}

// Returns the real or the imaginary parts of a complex constant.
Elements PartOf(const Elements& elements, size_t width, size_t first) {
  auto bytes = std::make_shared<std::vector<uint8_t>>();
  for (size_t at = first; at + width <= elements.bytes.size(); at += 2 * width)
    bytes->insert(bytes->end(), elements.bytes.begin() + at,
                  elements.bytes.begin() + at + width);
  Elements part;
  part.bytes = *bytes;
  part.owner = bytes;
  part.splat = elements.splat;
  return part;
}

// Broadcasts x: its dim i becomes dim dims[i] of the shape. The other dims of
// the shape are repeated, and so are dims of x that are 1.
Tensor BroadcastAlong(OperationContext& c, Tensor x,
                      const std::vector<int64_t>& dims, const Shape& shape) {
  const int rank = static_cast<int>(shape.size());
  if (!c.CheckLength(dims, "broadcast_dimensions",
                     static_cast<size_t>(x.rank())) ||
      !c.CheckAxes(dims, "broadcast_dimensions", rank))
    return x;
  for (int i = 0; i < x.rank(); ++i) {
    const Dim& from = x.dim(i);
    const Dim& to = shape[static_cast<size_t>(dims[i])];
    if (from.is_constant() && to.is_constant() && from != to &&
        from != Dim(1)) {
      c.FailInvalid("dim " + std::to_string(i) + ": expected 1 or " +
                    to.ToString() + ", found " + from.ToString());
      return x;
    }
  }
  std::vector<int64_t> order(dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  std::vector<int64_t> added;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!Contains(dims, axis)) added.push_back(axis);
  return Broadcast(Unsqueeze(Transpose(x, order), added), shape);
}

// Returns the shape in a tensor of dims. A dim that depends on data is replaced
// by the extent in the result's type, if the type states it.
Shape TargetShape(OperationContext& c, Tensor dims) {
  Shape shape = c.builder().Extents(dims.value());
  const std::vector<int64_t>& declared = c.ResultType().dims;
  for (size_t i = 0; i < shape.size() && i < declared.size(); ++i)
    if (!shape[i].is_constant() && declared[i] >= 0)
      shape[i] = Dim(declared[i]);
  return shape;
}

}  // namespace

void ImportConstant(OperationContext& c) {
  const Attribute* value = c.Find("value");
  if (value == nullptr) return c.FailInvalid("attribute 'value': none found");
  if (value->kind == Attribute::Kind::kInteger ||
      value->kind == Attribute::Kind::kBool)
    return c.SetResult(c.IntegerScalar(
        value->integer, DTypeOf(value->type.element).value_or(DType::kI64)));
  if (value->kind == Attribute::Kind::kFloat)
    return c.SetResult(c.Scalar(
        value->number, DTypeOf(value->type.element).value_or(DType::kF32)));
  if (value->kind != Attribute::Kind::kElements || !value->type.is_tensor() ||
      value->type.dims.size() > static_cast<size_t>(kMaxRank))
    return c.FailInvalid(
        "attribute 'value': expected elements of at most 16 dims");
  const std::string_view element = value->type.element;
  const Elements& elements = *value->elements;
  if (element.starts_with("complex<")) {
    const std::string_view part = element.substr(8, element.size() - 9);
    const auto width = static_cast<size_t>(ElementBytes(part).value_or(8));
    return c.SetResult(
        0, Imported{.tensor = ConstantOf(c, PartOf(elements, width, 0), part,
                                         value->type),
                    .imaginary = ConstantOf(c, PartOf(elements, width, width),
                                            part, value->type)});
  }
  c.SetResult(ConstantOf(c, elements, element, value->type));
}

namespace {

void SetIota(OperationContext& c, const Shape& shape) {
  const int64_t axis = c.Integer("iota_dimension", {});
  const DType type = c.ResultDType();
  if (!c.ok() ||
      !c.CheckAxes({axis}, "iota_dimension", static_cast<int>(shape.size())))
    return;
  c.SetResult(Tensor(&c.builder(),
                     c.builder().Iota(shape, static_cast<int>(axis), type)));
}

}  // namespace

void ImportIota(OperationContext& c) { SetIota(c, c.ResultShape()); }

void ImportDynamicIota(OperationContext& c) {
  SetIota(c, TargetShape(c, c.Operand(0)));
}

void ImportBroadcastInDim(OperationContext& c) {
  const Shape shape = c.ResultShape();
  if (!c.ok()) return;
  c.SetResult(BroadcastAlong(c, c.Operand(0),
                             c.Integers("broadcast_dimensions"), shape));
}

void ImportDynamicBroadcastInDim(OperationContext& c) {
  const Tensor x = c.Operand(0);
  const std::vector<int64_t> dims = c.Integers("broadcast_dimensions");
  Shape shape = TargetShape(c, c.Operand(1));
  if (!c.ok()) return;
  for (size_t i = 0; i < dims.size() && i < x.shape().size(); ++i) {
    if (dims[i] < 0 || dims[i] >= static_cast<int64_t>(shape.size())) continue;
    // If the result's extent is unknown at import, it is taken from x: an
    // extent of x other than 1 is not broadcast, so the result has it, too.
    const Dim& from = x.shape()[i];
    Dim& to = shape[static_cast<size_t>(dims[i])];
    if (!to.is_constant() && from.is_constant() && from != Dim(1)) to = from;
  }
  c.SetResult(BroadcastAlong(c, x, dims, shape));
}

void ImportBroadcast(OperationContext& c) {
  const Tensor x = c.Operand(0);
  const std::vector<int64_t> sizes = c.Integers("broadcast_sizes");
  if (!c.CheckRange(sizes, "broadcast_sizes", 0, kLargest)) return;
  Shape shape;
  for (const int64_t size : sizes) shape.push_back(Dim(size));
  shape.insert(shape.end(), x.shape().begin(), x.shape().end());
  c.SetResult(Broadcast(x, shape));
}

void ImportReshape(OperationContext& c) {
  const Shape shape = c.ResultShape();
  if (c.ok()) c.SetResult(Reshape(c.Operand(0), shape));
}

void ImportDynamicReshape(OperationContext& c) {
  const Shape shape = TargetShape(c, c.Operand(1));
  if (c.ok()) c.SetResult(Reshape(c.Operand(0), shape));
}

void ImportTranspose(OperationContext& c) {
  const Tensor x = c.Operand(0);
  const std::vector<int64_t> permutation = c.Integers("permutation");
  if (!c.CheckLength(permutation, "permutation",
                     static_cast<size_t>(x.rank())) ||
      !c.CheckAxes(permutation, "permutation", x.rank()))
    return;
  c.SetResult(Transpose(x, permutation));
}

void ImportReverse(OperationContext& c) {
  Tensor x = c.Operand(0);
  const std::vector<int64_t> axes = c.Integers("dimensions");
  if (!c.CheckAxes(axes, "dimensions", x.rank())) return;
  for (const int64_t axis : axes) x = ops::Reverse(x, static_cast<int>(axis));
  c.SetResult(x);
}

void ImportConcatenate(OperationContext& c) {
  const std::vector<Tensor> parts = c.Operands(0, c.operand_count());
  const int64_t axis = c.Integer("dimension", {});
  if (!c.ok() || !c.CheckAxes({axis}, "dimension", parts[0].rank())) return;
  c.SetResult(Concat(parts, static_cast<int>(axis)));
}

void ImportSlice(OperationContext& c) {
  Tensor x = c.Operand(0);
  const std::vector<int64_t> starts = c.Integers("start_indices");
  const std::vector<int64_t> limits = c.Integers("limit_indices");
  std::vector<int64_t> strides = c.Integers("strides");
  const auto rank = static_cast<size_t>(x.rank());
  if (!c.Has("strides")) strides.assign(rank, 1);
  if (!c.CheckLength(starts, "start_indices", rank) ||
      !c.CheckLength(limits, "limit_indices", rank) ||
      !c.CheckLength(strides, "strides", rank) ||
      !c.CheckRange(strides, "strides", 1, kLargest))
    return;
  for (size_t i = 0; i < rank; ++i) {
    const auto extent = x.dim(static_cast<int>(i)).AsConstant();
    if (starts[i] < 0 || starts[i] > limits[i] ||
        (extent && limits[i] > *extent))
      return c.FailInvalid(
          "dim " + std::to_string(i) + ": expected a range within " +
          x.dim(static_cast<int>(i)).ToString() + ", found [" +
          std::to_string(starts[i]) + ":" + std::to_string(limits[i]) + "]");
    if (starts[i] == 0 && extent == limits[i] && strides[i] == 1) continue;
    const int64_t size = DivideRoundingUp(limits[i] - starts[i], strides[i]);
    x = SliceAxis(x, static_cast<int>(i), Dim(starts[i]), Dim(size),
                  strides[i]);
  }
  c.SetResult(x);
}

void ImportRealDynamicSlice(OperationContext& c) {
  Tensor x = c.Operand(0);
  std::vector<std::vector<Dim>> parts;
  for (int i = 1; i < 4; ++i) {
    const auto contents =
        c.builder().IntegerContents(Cast(c.Operand(i), DType::kI64).value());
    if (!c.ok()) return;
    if (!contents || contents->size() != static_cast<size_t>(x.rank()))
      return c.FailUnsupported("operand " + std::to_string(i) +
                               ": expected values that are known, or dims of "
                               "the inputs");
    parts.push_back(*contents);
  }
  for (int i = 0; i < x.rank(); ++i) {
    const Dim& start = parts[0][i];
    const auto stride = parts[2][i].AsConstant();
    if (!stride || *stride < 1)
      return c.FailUnsupported("expected known strides of 1 or more");
    const Dim size = CeilDivide(parts[1][i] - start, Dim(*stride));
    x = SliceAxis(x, i, start, ops::LargerOf(size, Dim(0)), *stride);
  }
  c.SetResult(x);
}

void ImportPad(OperationContext& c) {
  const Tensor x = c.Operand(0), value = c.Operand(1);
  PaddingSpec spec{.low = c.Integers("edge_padding_low"),
                   .high = c.Integers("edge_padding_high"),
                   .interior = c.Integers("interior_padding")};
  const auto rank = static_cast<size_t>(x.rank());
  if (!c.CheckLength(spec.low, "edge_padding_low", rank) ||
      !c.CheckLength(spec.high, "edge_padding_high", rank) ||
      !c.CheckLength(spec.interior, "interior_padding", rank))
    return;
  c.SetResult(PadAll(c, x, value, spec));
}

void ImportDynamicPad(OperationContext& c) {
  const Tensor x = c.Operand(0), value = c.Operand(1);
  PaddingSpec spec;
  for (int i = 2; i < 5; ++i) {
    const auto contents =
        c.builder().ConstantContents(Cast(c.Operand(i), DType::kI64).value());
    if (!c.ok()) return;
    if (!contents || contents->size() != static_cast<size_t>(x.rank()))
      return c.FailUnsupported("operand " + std::to_string(i) +
                               ": expected values that are known");
    auto& list = i == 2 ? spec.low : i == 3 ? spec.high : spec.interior;
    for (const double number : *contents)
      list.push_back(static_cast<int64_t>(number));
  }
  c.SetResult(PadAll(c, x, value, spec));
}

void ImportShapeOf(OperationContext& c) {
  const Tensor x = c.Operand(0);
  if (c.ok())
    c.SetResult(Cast(Tensor(&c.builder(), c.builder().ShapeValue(x.shape())),
                     c.ResultDType()));
}

void ImportGetDimensionSize(OperationContext& c) {
  const Tensor x = c.Operand(0);
  const int64_t axis = c.Integer("dimension", {});
  if (!c.ok() || !c.CheckAxes({axis}, "dimension", x.rank())) return;
  c.SetResult(Cast(ops::DimScalar(c.builder(), x.dim(static_cast<int>(axis))),
                   c.ResultDType()));
}

}  // namespace ember::stablehlo
