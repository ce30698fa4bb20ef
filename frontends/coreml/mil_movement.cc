// MIL's operations that move elements, make constants, or select elements.
#include <algorithm>
#include <string>
#include <vector>

#include "base/rounding.h"
#include "compiler/graph/builder/unit_dims.h"
#include "frontends/coreml/matrices.h"
#include "frontends/coreml/mil_operation.h"

namespace ember::coreml {
namespace {

// Imports reshape. A 0 keeps an extent, -1 is inferred from the rest.
void ReshapeTo(MilOperation& o) {
  const Tensor x = o.Input("x");
  const std::vector<int64_t> target = o.Integers("shape");
  Shape shape;
  int inferred = -1;
  for (size_t i = 0; i < target.size() && o.ok(); ++i) {
    if (target[i] == -1 && inferred < 0) {
      inferred = static_cast<int>(i);
      shape.push_back(Dim(1));
    } else if (target[i] == 0 && static_cast<int>(i) < x.rank()) {
      shape.push_back(x.dim(static_cast<int>(i)));
    } else if (o.CheckRange("shape", target[i])) {
      shape.push_back(Dim(target[i]));
    }
  }
  if (!o.ok()) return;
  if (inferred >= 0) {
    const auto left = ops::DivideElementCounts(x.shape(), shape);
    if (!left)
      return o.FailInvalid("shape: expected one that " +
                           graph::ShapeToString(x.shape()) + " fits");
    shape[static_cast<size_t>(inferred)] = *left;
  }
  o.SetOutput(0, Reshape(x, shape));
}

void TransposeBy(MilOperation& o) {
  const Tensor x = o.Input("x");
  std::vector<int64_t> order;
  for (const int64_t axis : o.Integers("perm"))
    order.push_back(axis < 0 ? axis + x.rank() : axis);
  if (o.ok()) o.SetOutput(0, Transpose(x, order));
}

void ExpandDims(MilOperation& o) {
  const Tensor x = o.Input("x");
  std::vector<int64_t> axes = o.Integers("axes");
  const auto rank = x.rank() + static_cast<int64_t>(axes.size());
  if (rank > kMaxRank) return o.FailInvalid("axes: expected fewer");
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  if (o.ok()) o.SetOutput(0, Unsqueeze(x, axes));
}

void SqueezeDims(MilOperation& o) {
  const Tensor x = o.Input("x");
  const std::vector<int64_t> axes =
      o.Has("axes") ? o.Axes("axes", x.rank())
                    : graph::UnitAxes(x.builder(), x.shape());
  if (o.ok()) o.SetOutput(0, Squeeze(x, axes));
}

void ConcatValues(MilOperation& o) {
  const std::vector<Tensor> values = o.Inputs("values");
  if (!o.ok()) return;
  const int axis = o.Axis("axis", 0, values[0].rank());
  if (!o.Flag("interleave", false)) return o.SetOutput(0, Concat(values, axis));
  // If `interleave` is set, concat takes index 0 of the axis from each value,
  // then index 1 from each, and so on.
  std::vector<Tensor> parts;
  for (const Tensor& value : values)
    parts.push_back(Unsqueeze(value, {axis + 1}));
  const Tensor stacked = Concat(parts, axis + 1);
  if (!o.ok()) return;
  Shape shape = values[0].shape();
  shape[static_cast<size_t>(axis)] = shape[static_cast<size_t>(axis)] *
                                     Dim(static_cast<int64_t>(values.size()));
  o.SetOutput(0, Reshape(stacked, shape));
}

void StackValues(MilOperation& o) {
  const std::vector<Tensor> values = o.Inputs("values");
  if (!o.ok()) return;
  const int axis = o.Axis("axis", 0, values[0].rank() + 1);
  std::vector<Tensor> parts;
  for (const Tensor& value : values) parts.push_back(Unsqueeze(value, {axis}));
  o.SetOutput(0, Concat(parts, axis));
}

void Split(MilOperation& o) {
  const Tensor x = o.Input("x");
  const int axis = o.Axis("axis", 0, x.rank());
  std::vector<int64_t> sizes = o.Integers("split_sizes");
  const auto extent = o.Extent(x, axis);
  if (!extent) return;
  const int64_t count = o.output_count();
  if (sizes.empty()) {
    if (count < 1 || *extent % count != 0)
      return o.FailInvalid("num_splits: expected a divisor of " +
                           std::to_string(*extent));
    sizes.assign(static_cast<size_t>(count), *extent / count);
  }
  int64_t first = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!o.CheckRange("split_sizes", sizes[i], 0)) return;
    o.SetOutput(static_cast<int>(i),
                SliceAxis(x, axis, Dim(first), Dim(sizes[i])));
    first += sizes[i];
  }
}

// Imports slice_by_index. It follows numpy's rules, with masks for open ends.
void SliceByIndex(MilOperation& o) {
  Tensor x = o.Input("x");
  const auto rank = static_cast<size_t>(x.rank());
  const std::vector<int64_t> zeros(rank, 0), ones(rank, 1);
  const auto begin = o.Integers("begin", zeros), end = o.Integers("end", zeros),
             stride = o.Integers("stride", ones),
             begin_mask = o.Integers("begin_mask", zeros),
             end_mask = o.Integers("end_mask", zeros),
             squeeze_mask = o.Integers("squeeze_mask", zeros);
  for (const auto* part :
       {&begin, &end, &stride, &begin_mask, &end_mask, &squeeze_mask}) {
    if (part->size() != rank)
      return o.FailInvalid("expected " + std::to_string(rank) +
                           " values of begin, end, stride and masks");
  }
  std::vector<int64_t> squeezed;
  for (int i = 0; i < static_cast<int>(rank); ++i) {
    const auto extent = o.Extent(x, i);
    const int64_t step = stride[i];
    if (!extent) return;
    if (step == 0 || !o.CheckRange("stride", std::abs(step)))
      return o.FailInvalid("stride: expected values other than 0");
    if (squeeze_mask[i] != 0) {
      const int64_t at = begin[i] < 0 ? begin[i] + *extent : begin[i];
      if (at < 0 || at >= *extent)
        return o.FailInvalid("begin: expected a value below " +
                             std::to_string(*extent) + ", found " +
                             std::to_string(begin[i]));
      x = SliceAxis(x, i, Dim(at), Dim(1));
      squeezed.push_back(i);
      continue;
    }
    const int64_t low = step > 0 ? 0 : -1;
    const int64_t high = step > 0 ? *extent : *extent - 1;
    const auto within = [&](int64_t at) {
      return std::clamp(at < 0 ? at + *extent : at, low, high);
    };
    const int64_t from =
        begin_mask[i] != 0 ? (step > 0 ? 0 : *extent - 1) : within(begin[i]);
    const int64_t to =
        end_mask[i] != 0 ? (step > 0 ? *extent : -1) : within(end[i]);
    const int64_t span = step > 0 ? to - from : from - to;
    const int64_t size = std::abs(step);
    x = SliceAxis(x, i, Dim(from),
                  Dim(std::max<int64_t>(DivideRoundingUp(span, size), 0)),
                  step);
  }
  o.SetOutput(0, squeezed.empty() ? x : Squeeze(x, squeezed));
}

void SliceBySize(MilOperation& o) {
  Tensor x = o.Input("x");
  const auto begin = o.Integers("begin"), size = o.Integers("size");
  if (static_cast<int>(begin.size()) != x.rank() ||
      static_cast<int>(size.size()) != x.rank())
    return o.FailInvalid("expected " + std::to_string(x.rank()) +
                         " values of begin and size");
  for (int i = 0; i < x.rank(); ++i) {
    const auto extent = o.Extent(x, i);
    if (!extent || !o.CheckRange("begin", begin[i], 0)) return;
    x = SliceAxis(x, i, Dim(begin[i]),
                  Dim(size[i] == -1 ? *extent - begin[i] : size[i]));
  }
  o.SetOutput(0, x);
}

// Imports pad. The amounts are those before and after each of the last dims.
void PadDims(MilOperation& o) {
  const Tensor x = o.Input("x");
  const std::vector<int64_t> pad = o.Integers("pad");
  const std::string mode = o.Text("mode", "constant");
  const size_t count = pad.size() / 2, rank = static_cast<size_t>(x.rank());
  if (pad.size() % 2 != 0 || count > rank)
    return o.FailInvalid("pad: expected two values for each padded dim");
  Shape low(rank, Dim(0)), high(rank, Dim(0));
  for (size_t i = 0; i < count; ++i) {
    if (!o.CheckRange("pad", pad[2 * i], 0) ||
        !o.CheckRange("pad", pad[2 * i + 1], 0))
      return;
    low[rank - count + i] = Dim(pad[2 * i]);
    high[rank - count + i] = Dim(pad[2 * i + 1]);
  }
  if (mode == "constant") {
    return o.SetOutput(
        0, Pad(x, low, high, mode, x.Like(o.Number("constant_val", 0))));
  }
  if (mode != "reflect" && mode != "replicate")
    return o.FailInvalid(
        "mode: expected constant, reflect or replicate, "
        "found '" +
        mode + "'");
  o.SetOutput(
      0, Pad(x, low, high, mode == "reflect" ? "reflect" : "edge", Tensor()));
}

void GatherSlices(MilOperation& o) {
  const Tensor x = o.Input("x"), indices = o.Input("indices");
  const int axis = o.Axis("axis", 0, x.rank());
  if (!o.ok()) return;
  o.SetOutput(0, Gather(x, ops::NormalizeIndices(indices, x.dim(axis)), axis));
}

void GatherAlongAxis(MilOperation& o) {
  const Tensor x = o.Input("x"), indices = o.Input("indices");
  const int axis = o.Axis("axis", 0, x.rank());
  if (!o.ok()) return;
  o.SetOutput(0, Apply("gather_elements",
                       {x, ops::NormalizeIndices(indices, x.dim(axis))},
                       {{"axis", int64_t{axis}}}));
}

void Tile(MilOperation& o) {
  Tensor x = o.Input("x");
  const std::vector<int64_t> reps = o.Integers("reps");
  if (static_cast<int>(reps.size()) != x.rank())
    return o.FailInvalid("reps: expected " + std::to_string(x.rank()) +
                         " values, found " + std::to_string(reps.size()));
  for (int i = 0; i < static_cast<int>(reps.size()); ++i) {
    if (!o.CheckRange("reps", reps[i])) return;
    Shape repeated = x.shape(), merged = x.shape();
    repeated.insert(repeated.begin() + i, Dim(reps[i]));
    merged[i] = merged[i] * Dim(reps[i]);
    x = Reshape(Broadcast(Unsqueeze(x, {i}), repeated), merged);
    if (!o.ok()) return;
  }
  o.SetOutput(0, x);
}

void Fill(MilOperation& o) {
  Shape shape;
  for (const int64_t dim : o.Integers("shape")) {
    if (!o.CheckRange("shape", dim, 0)) return;
    shape.push_back(Dim(dim));
  }
  if (o.Has("value"))
    return o.SetOutput(0, Broadcast(Reshape(o.Input("value"), Shape{}), shape));
  o.SetOutput(
      0, Broadcast(Tensor(&o.builder(), o.builder().Scalar(0, DType::kF32)),
                   shape));
}

void FlattenTo2d(MilOperation& o) {
  const Tensor x = o.Input("x");
  int64_t axis = o.Integer("axis", 1);
  if (axis < 0) axis += x.rank();
  if (axis < 0 || axis > x.rank())
    return o.FailInvalid("axis: expected one of rank " +
                         std::to_string(x.rank()));
  Dim rows(1), columns(1);
  for (int i = 0; i < x.rank(); ++i) {
    Dim& side = i < axis ? rows : columns;
    side = side * x.dim(i);
  }
  o.SetOutput(0, Reshape(x, {rows, columns}));
}

// Imports crop, which removes elements at both ends of the last two dims.
void CropImages(MilOperation& o) {
  if (!o.CheckRank("x", 3)) return;
  Tensor x = o.Input("x");
  for (const bool is_width : {false, true}) {
    const std::string name = is_width ? "crop_width" : "crop_height";
    const std::vector<int64_t> cut = o.Integers(name, {0, 0});
    const int axis = x.rank() - (is_width ? 1 : 2);
    const auto extent = o.Extent(x, axis);
    if (!extent) return;
    if (cut.size() != 2)
      return o.FailInvalid(name + ": expected 2 values, found " +
                           std::to_string(cut.size()));
    if (!o.CheckRange(name, cut[0], 0, *extent) ||
        !o.CheckRange(name, cut[1], 0, *extent - cut[0]))
      return;
    x = SliceAxis(x, axis, Dim(cut[0]), Dim(*extent - cut[0] - cut[1]));
  }
  o.SetOutput(0, x);
}

void ReverseAxes(MilOperation& o) {
  Tensor x = o.Input("x");
  for (const int64_t axis : o.Axes("axes", x.rank()))
    x = ops::Reverse(x, static_cast<int>(axis));
  o.SetOutput(0, x);
}

void ShapeOf(MilOperation& o) {
  const Tensor x = o.Input("x");
  if (!o.ok()) return;
  o.SetOutput(0, Cast(Tensor(&o.builder(), o.builder().ShapeValue(x.shape())),
                      DType::kI32));
}

void TopK(MilOperation& o) {
  const Tensor x = o.Input("x");
  const int axis = o.Axis("axis", -1, x.rank());
  const int64_t k = o.Integer("k", 1);
  const auto extent = o.Extent(x, axis);
  if (!extent) return;
  if (!o.CheckRange("k", k, 1, *extent)) return;
  const std::vector<Tensor> best =
      ApplyAll("top_k", {x},
               {{"axis", int64_t{axis}},
                {"k", Shape{Dim(k)}},
                {"largest", int64_t{o.Flag("ascending", false) ? 0 : 1}}});
  if (!o.ok()) return;
  o.SetOutput(0, best[0]);
  o.SetOutput(1, Cast(best[1], DType::kI32));
}

void CumulativeSum(MilOperation& o) {
  const Tensor x = o.Input("x");
  const int axis = o.Axis("axis", 0, x.rank());
  const bool exclusive = o.Flag("exclusive", false);
  const bool reverse = o.Flag("reverse", false);
  if (o.ok()) o.SetOutput(0, RunningSum(x, axis, exclusive, reverse));
}

// Moves blocks into depth or back. block_first: the place within the block is
// the slower part of the depth dim; in pixel_shuffle it is the faster part.
void DepthAndSpace(MilOperation& o, std::string_view size, bool to_space,
                   bool block_first) {
  if (!o.CheckRank("x", 4, 4)) return;
  const Tensor x = o.Input("x");
  const int64_t block = o.Integer(size, 2);
  const auto channels = o.Extent(x, 1), rows = o.Extent(x, 2),
             columns = o.Extent(x, 3);
  if (!channels || !rows || !columns || !o.CheckRange(size, block)) return;
  if (block > 4096 || (to_space ? *channels % (block * block) != 0
                                : *rows % block != 0 || *columns % block != 0))
    return o.FailInvalid(std::string(size) + ": expected a divisor, found " +
                         std::to_string(block));
  const Dim n = x.dim(0), b(block);
  if (to_space) {
    const Dim c(*channels / (block * block)), h(*rows), w(*columns);
    const Tensor y =
        block_first
            ? Transpose(Reshape(x, {n, b, b, c, h, w}), {0, 3, 4, 1, 5, 2})
            : Transpose(Reshape(x, {n, c, b, b, h, w}), {0, 1, 4, 2, 5, 3});
    return o.SetOutput(0, Reshape(y, {n, c, h * b, w * b}));
  }
  const Dim c(*channels), h(*rows / block), w(*columns / block);
  const Tensor parts = Reshape(x, {n, c, h, b, w, b});
  const Tensor y = block_first ? Transpose(parts, {0, 3, 5, 1, 2, 4})
                               : Transpose(parts, {0, 1, 3, 5, 2, 4});
  o.SetOutput(0, Reshape(y, {n, c * b * b, h, w}));
}
void DepthToSpace(MilOperation& o) {
  DepthAndSpace(o, "block_size", true, true);
}
void SpaceToDepth(MilOperation& o) {
  DepthAndSpace(o, "block_size", false, true);
}
void PixelShuffle(MilOperation& o) {
  DepthAndSpace(o, "upscale_factor", true, false);
}
void PixelUnshuffle(MilOperation& o) {
  DepthAndSpace(o, "downscale_factor", false, false);
}

constexpr MilRow kRows[] = {
    {"concat", ConcatValues},
    {"crop", CropImages},
    {"cumsum", CumulativeSum},
    {"depth_to_space", DepthToSpace},
    {"expand_dims", ExpandDims},
    {"fill", Fill},
    {"flatten2d", FlattenTo2d},
    {"gather", GatherSlices},
    {"gather_along_axis", GatherAlongAxis},
    {"pad", PadDims},
    {"pixel_shuffle", PixelShuffle},
    {"pixel_unshuffle", PixelUnshuffle},
    {"reshape", ReshapeTo},
    {"reverse", ReverseAxes},
    {"shape", ShapeOf},
    {"slice_by_index", SliceByIndex},
    {"slice_by_size", SliceBySize},
    {"space_to_depth", SpaceToDepth},
    {"split", Split},
    {"squeeze", SqueezeDims},
    {"stack", StackValues},
    {"tile", Tile},
    {"topk", TopK},
    {"transpose", TransposeBy},
};

}  // namespace

std::span<const MilRow> MilMovement() { return kRows; }

}  // namespace ember::coreml
