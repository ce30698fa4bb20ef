// Imports operators that change shapes or move elements.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/one_line.h"
#include "frontends/caffe2/operator_table.h"
#include "frontends/caffe2/window_arguments.h"

namespace ember::caffe2 {
namespace {

// Returns the argument "axis", or the channels' axis in the argument "order".
int JoinAxis(OperatorContext& c, int rank) {
  if (c.Has("axis")) return c.AxisOf("axis", 1, rank);
  return c.Axis(c.ChannelsLast() ? rank - 1 : 1, rank);
}

}  // namespace

// Imports Concat. Its result split_info has the extent of each operand along
// the axis.
void ImportConcat(OperatorContext& c) {
  if (!c.CheckRank(0, 0)) return;
  const bool add = c.Flag("add_axis", false);
  std::vector<Tensor> parts = c.inputs();
  const int axis = JoinAxis(c, parts[0].rank() + (add ? 1 : 0));
  if (!c.ok()) return;
  Shape extents;
  for (Tensor& part : parts) {
    if (add) part = Unsqueeze(part, {axis});
    if (!part.HasDim(axis)) return;
    extents.push_back(part.dim(axis));
  }
  c.SetOutput(0, Concat(parts, axis));
  if (c.ok()) {
    c.SetOutput(1, Cast(c.Wrap(c.builder().ShapeValue(extents)), DType::kI32));
  }
}

// Imports Split: splits an axis into as many parts as there are results. The
// parts have equal extents unless extents are given.
void ImportSplit(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int axis = JoinAxis(c, x.rank());
  const int count = c.op().output_size();
  if (!c.ok()) return;
  Shape sizes;
  if (c.Input(1)) {
    const auto given = c.Sizes(c.Input(1), "split (input 1)");
    if (!given) return;
    sizes = *given;
  } else if (c.Has("split")) {
    for (const int64_t size : c.Integers("split")) {
      if (!c.CheckRange("split", size, 0)) return;
      sizes.push_back(Dim(size));
    }
  } else {
    const auto size = ops::DivideElementCounts({x.dim(axis)}, {Dim(count)});
    if (!size) {
      return c.FailInvalid("expected a multiple of " + std::to_string(count) +
                           " along dim " + std::to_string(axis) + ", found " +
                           graph::ShapeToString(x.shape()));
    }
    sizes.assign(static_cast<size_t>(count), *size);
  }
  if (static_cast<int>(sizes.size()) != count) {
    return c.FailInvalid("split: expected " + std::to_string(count) +
                         " extents, one for each result, found " +
                         std::to_string(sizes.size()));
  }
  Dim start(0);
  for (int i = 0; i < count && c.ok(); ++i) {
    const Dim& size = sizes[static_cast<size_t>(i)];
    c.SetOutput(i, SliceAxis(x, axis, start, size));
    start = start + size;
  }
  const Dim excess = start - x.dim(axis);
  if (excess.is_constant() && excess.constant() != 0) {
    c.FailInvalid("split: expected extents whose sum is " +
                  x.dim(axis).ToString() + ", found " + start.ToString());
  }
}

// Imports Reshape. A 0 keeps a dim, -1 is inferred. The second result is the
// old shape.
void ImportReshape(OperatorContext& c) {
  const Tensor x = c.Input(0);
  Shape shape;
  if (c.Input(1)) {
    const auto given = c.Contents(c.Input(1), "new_shape (input 1)");
    if (!given) return;
    shape = *given;
  } else {
    for (const int64_t dim : c.Integers("shape")) shape.push_back(Dim(dim));
  }
  if (shape.size() > static_cast<size_t>(kMaxRank)) {
    return c.FailInvalid("shape: expected at most 16 dims, found " +
                         std::to_string(shape.size()));
  }
  std::optional<size_t> left;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == Dim(0)) {
      if (!x.HasDim(static_cast<int>(i))) return;
      shape[i] = x.dim(static_cast<int>(i));
    } else if (shape[i] == Dim(-1) && !left) {
      left = i;
    } else if (shape[i].AsConstant().value_or(1) < 0) {
      return c.FailInvalid(
          "shape: expected dims of 0 or more and one of -1, "
          "found " +
          graph::ShapeToString(shape));
    }
  }
  if (left) {
    Shape others = shape;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*left));
    const auto missing = ops::DivideElementCounts(x.shape(), others);
    if (!missing) {
      return c.FailInvalid("shape: expected a divisor of " +
                           graph::ShapeToString(x.shape()) + ", found " +
                           graph::ShapeToString(others));
    }
    shape[*left] = *missing;
  }
  c.SetOutput(0, Reshape(x, shape));
  if (c.ok()) c.SetOutput(1, c.Wrap(c.builder().ShapeValue(x.shape())));
}

void ImportResizeLike(OperatorContext& c) {
  if (!c.CheckRank(1, 0)) return;
  c.SetOutput(Reshape(c.Input(0), c.Input(1).shape()));
}

void ImportFlatten(OperatorContext& c) {
  const Tensor x = c.Input(0);
  const int64_t axis = c.Integer("axis", 1);
  const int rank = x.rank();
  // Flatten's axis may equal the rank. All dims are then merged into the first
  // dim of the result.
  if (axis == rank) return c.SetOutput(AsRows(x, rank));
  const int at = c.Axis(axis, rank);
  if (c.ok()) c.SetOutput(AsRows(x, at));
}

void ImportFlattenToVec(OperatorContext& c) {
  c.SetOutput(Reshape(c.Input(0), {graph::ElementCount(c.Input(0).shape())}));
}

void ImportTranspose(OperatorContext& c) {
  const Tensor x = c.Input(0);
  std::vector<int64_t> order = c.Integers("axes");
  if (order.empty())
    for (int i = x.rank(); i-- > 0;) order.push_back(i);
  if (static_cast<int>(order.size()) != x.rank() ||
      static_cast<int>(c.Axes(order, x.rank()).size()) != x.rank())
    return c.FailInvalid("axes: expected an order of all dims");
  for (int64_t& axis : order) axis = axis < 0 ? axis + x.rank() : axis;
  c.SetOutput(Transpose(x, order));
}

namespace {

// Imports NCHW2NHWC (`to_last`), which moves dim 1 to the end, and NHWC2NCHW,
// which moves the last dim to position 1.
void Ordered(OperatorContext& c, bool to_last) {
  if (!c.CheckRank(0, 3)) return;
  const int rank = c.Input(0).rank();
  std::vector<int64_t> order{0};
  if (!to_last) order.push_back(rank - 1);
  for (int i = to_last ? 2 : 1; i < rank - (to_last ? 0 : 1); ++i)
    order.push_back(i);
  if (to_last) order.push_back(1);
  c.SetOutput(Transpose(c.Input(0), order));
}

}  // namespace

void ImportNCHW2NHWC(OperatorContext& c) { Ordered(c, /*to_last=*/true); }
void ImportNHWC2NCHW(OperatorContext& c) { Ordered(c, /*to_last=*/false); }

void ImportSqueeze(OperatorContext& c) {
  const std::vector<int64_t> axes =
      c.Axes(c.Integers("dims"), c.Input(0).rank());
  if (c.ok()) c.SetOutput(Squeeze(c.Input(0), axes));
}

void ImportExpandDims(OperatorContext& c) {
  std::vector<int64_t> dims = c.Integers("dims");
  const auto count =
      static_cast<int>(std::min(dims.size(), static_cast<size_t>(kMaxRank)));
  const std::vector<int64_t> axes = c.Axes(dims, c.Input(0).rank() + count);
  if (c.ok()) c.SetOutput(Unsqueeze(c.Input(0), axes));
}

// Imports Slice. Negative ends count from after the last element: -1 includes
// it.
void ImportSlice(OperatorContext& c) {
  Tensor x = c.Input(0);
  std::vector<int64_t> starts = c.Integers("starts"), ends = c.Integers("ends");
  if (c.input_count() > 1) {
    const auto given_starts =
        c.ConstantIntegers(c.Input(1), "starts (input 1)");
    const auto given_ends = c.ConstantIntegers(c.Input(2), "ends (input 2)");
    if (!given_starts || !given_ends) return;
    starts = *given_starts;
    ends = *given_ends;
  }
  if (starts.size() != ends.size() ||
      starts.size() > static_cast<size_t>(x.rank())) {
    return c.FailInvalid("starts, ends: expected one for each of at most " +
                         std::to_string(x.rank()) + " dims");
  }
  for (size_t i = 0; i < starts.size() && c.ok(); ++i) {
    const int axis = static_cast<int>(i);
    const Dim extent = x.dim(axis);
    const int64_t limit = int64_t{1} << 48;
    if (std::abs(std::clamp(starts[i], -limit, limit)) == limit)
      return c.FailInvalid("starts: found " + std::to_string(starts[i]));
    const auto place = [&](int64_t value) {
      const Dim at = value < 0 ? extent + Dim(value) + Dim(1)
                               : Dim(std::min(value, limit));
      return LargerOf(SmallerOf(at, extent), Dim(0));
    };
    const Dim begin = place(starts[i]), end = place(std::max(ends[i], -limit));
    if (begin == Dim(0) && end == extent) continue;
    x = SliceAxis(x, axis, begin, LargerOf(end - begin, Dim(0)));
  }
  c.SetOutput(x);
}

void ImportGather(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 0)) return;
  const Tensor x = c.Input(0);
  const int axis = c.AxisOf("axis", 0, x.rank());
  Tensor index = Cast(c.Input(1), DType::kI64);
  if (c.Flag("wrap_indices", false))
    index = ops::NormalizeIndices(index, x.dim(axis));
  if (c.ok()) c.SetOutput(Gather(x, index, axis));
}
void ImportBatchGather(OperatorContext& c) {
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, 0)) return;
  c.SetOutput(Gather(c.Input(0), Cast(c.Input(1), DType::kI64), 1));
}

void ImportTile(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int axis = c.AxisOf("axis", 0, x.rank());
  const int64_t tiles = c.Integer("tiles", 1);
  if (c.input_count() > 1)
    return c.FailUnsupported("tiles and axis as operands");
  if (!c.CheckPositive("tiles", tiles)) return;
  // Tiling inserts a dim of 1 before the axis, broadcasts it to the number of
  // tiles, and merges it with the axis.
  Shape wide = x.shape(), merged = x.shape();
  wide.insert(wide.begin() + axis, Dim(tiles));
  merged[static_cast<size_t>(axis)] = x.dim(axis) * Dim(tiles);
  c.SetOutput(Reshape(Broadcast(Unsqueeze(x, {axis}), wide), merged));
}

void ImportPadImage(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  const Tensor x = c.Input(0);
  const std::string mode = c.Text("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect") {
    return c.FailInvalid("mode: expected constant, edge or reflect, found '" +
                         OnOneLine(mode) + "'");
  }
  ops::Window window = ops::WindowOf({1, 1});
  if (!ReadPads(c, window)) return;
  const size_t first = c.ChannelsLast() ? 1 : 2;
  Shape low(4, Dim(0)), high(4, Dim(0));
  for (size_t i = 0; i < 2; ++i) {
    low[first + i] = window.low[i];
    high[first + i] = window.high[i];
  }
  c.SetOutput(
      Pad(x, low, high, mode,
          mode == "constant" ? x.Like(c.Number("value", 0)) : Tensor()));
}

// Imports ChannelShuffle: reads the channels as [groups, rest], and transposes
// them to [rest, groups].
void ImportChannelShuffle(OperatorContext& c) {
  if (!c.CheckRank(0, 3)) return;
  const Tensor x = c.Input(0);
  const int axis = c.ChannelsLast() ? x.rank() - 1 : 1;
  const int64_t groups = c.Integer("group", 1);
  if (!c.CheckPositive("group", groups)) return;
  const auto size = ops::DivideElementCounts({x.dim(axis)}, {Dim(groups)});
  if (!size) {
    return c.FailInvalid("group: expected a divisor of " +
                         x.dim(axis).ToString() + ", found " +
                         std::to_string(groups));
  }
  Shape split = x.shape();
  split[static_cast<size_t>(axis)] = *size;
  split.insert(split.begin() + axis, Dim(groups));
  std::vector<int64_t> order;
  for (int i = 0; i <= x.rank(); ++i) order.push_back(i);
  std::swap(order[static_cast<size_t>(axis)],
            order[static_cast<size_t>(axis) + 1]);
  c.SetOutput(Reshape(Transpose(Reshape(x, split), order), x.shape()));
}

namespace {

// Arguments of SpaceToBatch and BatchToSpace: the size of a block, and the
// padding at the top ("pad_t", or "pad" if it is absent) and at the other sides
// ("pad").
struct Blocks {
  Dim size, top, other;
};
bool ReadBlocks(OperatorContext& c, Blocks& blocks) {
  const int64_t size = c.Integer("block_size", 2), pad = c.Integer("pad", 0);
  const int64_t top = c.Integer("pad_t", pad);
  if (!c.CheckRank(0, 4, 4) || !c.CheckPositive("block_size", size) ||
      !c.CheckRange("pad", pad, 0) || !c.CheckRange("pad_t", top, 0))
    return false;
  if (c.ChannelsLast()) {
    c.FailUnsupported("order: expected NCHW");
    return false;
  }
  blocks = {.size = Dim(size), .top = Dim(top), .other = Dim(pad)};
  return true;
}

}  // namespace

// Imports SpaceToBatch: each position within a block becomes an image of the
// batch. The images of the first position come first.
void ImportSpaceToBatch(OperatorContext& c) {
  Blocks blocks;
  if (!ReadBlocks(c, blocks)) return;
  const Tensor x = Pad(c.Input(0), {Dim(0), Dim(0), blocks.top, blocks.other},
                       {Dim(0), Dim(0), blocks.other, blocks.other}, "constant",
                       c.Input(0).Like(0));
  const Dim& b = blocks.size;
  const auto h = ops::DivideElementCounts({x.dim(2)}, {b});
  const auto w = ops::DivideElementCounts({x.dim(3)}, {b});
  if (!h || !w) {
    return c.FailInvalid(
        "block_size: expected a divisor of the padded image, "
        "found " +
        b.ToString() + " for " + graph::ShapeToString(x.shape()));
  }
  const Tensor split = Reshape(x, {x.dim(0), x.dim(1), *h, b, *w, b});
  c.SetOutput(Reshape(Transpose(split, {3, 5, 0, 1, 2, 4}),
                      {x.dim(0) * b * b, x.dim(1), *h, *w}));
}

void ImportBatchToSpace(OperatorContext& c) {
  Blocks blocks;
  if (!ReadBlocks(c, blocks)) return;
  const Tensor x = c.Input(0);
  const Dim& b = blocks.size;
  const auto batch = ops::DivideElementCounts({x.dim(0)}, {b, b});
  if (!batch) {
    return c.FailInvalid("block_size: expected its square to divide " +
                         x.dim(0).ToString() + ", found " + b.ToString());
  }
  const Tensor split = Reshape(x, {b, b, *batch, x.dim(1), x.dim(2), x.dim(3)});
  Tensor y = Reshape(Transpose(split, {2, 3, 4, 0, 5, 1}),
                     {*batch, x.dim(1), x.dim(2) * b, x.dim(3) * b});
  y = SliceAxis(y, 2, blocks.top, y.dim(2) - blocks.top - blocks.other);
  c.SetOutput(
      SliceAxis(y, 3, blocks.other, y.dim(3) - blocks.other - blocks.other));
}

void ImportShape(OperatorContext& c) {
  const Tensor x = c.Input(0);
  Shape dims = x.shape();
  if (c.Has("axes")) {
    dims.clear();
    for (const int64_t axis : c.Integers("axes"))
      dims.push_back(x.dim(c.Axis(axis, x.rank())));
  }
  if (c.ok()) c.SetOutput(c.Wrap(c.builder().ShapeValue(dims)));
}

}  // namespace ember::caffe2
