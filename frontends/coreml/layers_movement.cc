// Imports layers that move elements, such as Reshape, Slice and Permute.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "base/rounding.h"
#include "compiler/graph/builder/unit_dims.h"
#include "frontends/coreml/layer_table.h"

namespace ember::coreml {
namespace {

Shape ShapeOf(const std::vector<int64_t>& dims) {
  return {dims.begin(), dims.end()};
}

// Reshapes x. A 0 in `target` keeps an extent, -1 is inferred from the rest.
void ReshapeTo(LayerContext& c, const Tensor& x, std::vector<int64_t> target) {
  Shape shape;
  int inferred = -1;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] == -1 && inferred < 0) {
      inferred = static_cast<int>(i);
      shape.push_back(Dim(1));
    } else if (target[i] == 0 && static_cast<int>(i) < x.rank()) {
      shape.push_back(x.dim(static_cast<int>(i)));
    } else if (c.CheckRange("targetShape", target[i])) {
      shape.push_back(Dim(target[i]));
    } else {
      return;
    }
  }
  if (inferred >= 0) {
    const auto left = ops::DivideElementCounts(x.shape(), shape);
    if (!left)
      return c.FailInvalid("targetShape: expected one that " +
                           graph::ShapeToString(x.shape()) + " fits");
    shape[static_cast<size_t>(inferred)] = *left;
  }
  c.SetOutput(0, Reshape(x, shape));
}

// Slices elements begin … end of an axis; negative bounds count from the end.
Tensor Range(LayerContext& c, const Tensor& x, int axis, int64_t begin,
             int64_t end, int64_t step) {
  const auto extent = c.Extent(x, axis);
  if (!extent) return x;
  if (begin < 0) begin += *extent;
  if (end < 0) end += *extent;
  begin = std::clamp<int64_t>(begin, 0, *extent);
  end = std::clamp<int64_t>(end, begin, *extent);
  return SliceAxis(x, axis, Dim(begin),
                   Dim(DivideRoundingUp(end - begin, step)), step);
}

void Constant(LayerContext& c, bool rank5) {
  std::vector<int64_t> shape = c.parameters().Integers(1);
  if (rank5) shape.insert(shape.begin(), 2, 1);
  c.SetOutput(0, c.Weights(c.parameters(), 2, shape));
}

void SplitInto(LayerContext& c, const Tensor& x, int axis,
               const std::vector<int64_t>& sizes) {
  int64_t first = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!c.CheckRange("split", sizes[i], 0)) return;
    c.SetOutput(static_cast<int>(i),
                SliceAxis(x, axis, Dim(first), Dim(sizes[i])));
    first += sizes[i];
  }
}

void SplitEvenly(LayerContext& c, const Tensor& x, int axis) {
  const auto extent = c.Extent(x, axis);
  if (!extent) return;
  const int count = c.output_count();
  if (count < 1 || *extent % count != 0) {
    return c.FailInvalid("expected an extent that " + std::to_string(count) +
                         " outputs divide, found " + std::to_string(*extent));
  }
  SplitInto(c, x, axis,
            std::vector<int64_t>(static_cast<size_t>(count), *extent / count));
}

// Returns the permutation of [.., C, H, W] to [.., H, W, C], or its inverse.
std::vector<int64_t> ChannelsLast(int rank, bool back) {
  std::vector<int64_t> order;
  for (int i = 0; i < rank; ++i) order.push_back(i);
  if (back) {
    std::rotate(order.end() - 3, order.end() - 1, order.end());
  } else {
    std::rotate(order.end() - 3, order.end() - 2, order.end());
  }
  return order;
}

}  // namespace

void ImportCopy(LayerContext& c) { c.SetOutput(0, c.Input(0)); }

void ImportLoadConstant(LayerContext& c) { Constant(c, true); }
void ImportLoadConstantNd(LayerContext& c) { Constant(c, false); }

void ImportReshape(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  Tensor x = c.Input(0);
  if (!c.CheckRank(0, 5, 5)) return;
  std::vector<int64_t> target = p.Integers(1);
  if (target.size() != 3 && target.size() != 4) {
    return c.FailInvalid("targetShape: expected 3 or 4 values, found " +
                         std::to_string(target.size()));
  }
  Shape shape;
  for (const int64_t dim : target) {
    if (!c.CheckRange("targetShape", dim)) return;
    shape.push_back(Dim(dim));
  }
  if (target.size() == 3) {
    shape.insert(shape.begin(), {x.dim(0), x.dim(1)});
  } else {
    shape.insert(shape.begin() + 1, Dim(1));
  }
  if (p.Integer(2) == 0) return c.SetOutput(0, Reshape(x, shape));
  x = Transpose(x, ChannelsLast(5, false));
  const Shape last{shape[0], shape[1], shape[3], shape[4], shape[2]};
  c.SetOutput(0, Transpose(Reshape(x, last), ChannelsLast(5, true)));
}

void ImportFlatten(LayerContext& c) {
  Tensor x = c.Input(0);
  if (!c.CheckRank(0, 3)) return;
  if (c.parameters().Integer(1) == 1)
    x = Transpose(x, ChannelsLast(x.rank(), false));
  Shape shape(x.shape().begin(), x.shape().end() - 3);
  shape.push_back(x.dim(-3) * x.dim(-2) * x.dim(-1));
  shape.insert(shape.end(), 2, Dim(1));
  c.SetOutput(0, Reshape(x, shape));
}

// Imports Permute. The axes are those of [sequence, channels, rows, columns];
// the batch dim is not permuted.
void ImportPermute(LayerContext& c) {
  if (!c.CheckRank(0, 5, 5)) return;
  std::vector<int64_t> order{0, 1, 2, 3, 4};
  const std::vector<int64_t> axes = c.parameters().Integers(1);
  if (!axes.empty()) {
    if (axes.size() != 4)
      return c.FailInvalid("axis: expected 4 values, found " +
                           std::to_string(axes.size()));
    constexpr int64_t kOf[] = {0, 2, 3, 4};
    for (size_t i = 0; i < 4; ++i) {
      if (axes[i] < 0 || axes[i] > 3)
        return c.FailInvalid("axis: expected values in [0, 3], found " +
                             std::to_string(axes[i]));
      order[static_cast<size_t>(kOf[i])] = kOf[axes[i]];
    }
  }
  c.SetOutput(0, Transpose(c.Input(0), order));
}

void ImportConcat(LayerContext& c) {
  if (!c.CheckRank(0, 3)) return;
  const int rank = c.Input(0).rank();
  c.SetOutput(
      0, Concat(c.inputs(), c.Axis(c.parameters().Flag(100) ? -5 : -3, rank)));
}
void ImportConcatNd(LayerContext& c) {
  c.SetOutput(0, Concat(c.inputs(),
                        c.Axis(c.parameters().Integer(1), c.Input(0).rank())));
}
void ImportStack(LayerContext& c) {
  const int axis = c.Axis(c.parameters().Integer(1), c.Input(0).rank() + 1);
  std::vector<Tensor> parts;
  for (const Tensor& x : c.inputs()) parts.push_back(Unsqueeze(x, {axis}));
  c.SetOutput(0, Concat(parts, axis));
}

void ImportSplit(LayerContext& c) {
  if (c.CheckRank(0, 3)) SplitEvenly(c, c.Input(0), c.Input(0).rank() - 3);
}
void ImportSplitNd(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  const int axis = c.Axis(p.Integer(1), x.rank());
  const std::vector<int64_t> sizes = p.Integers(3);
  if (!c.ok()) return;
  if (sizes.empty()) return SplitEvenly(c, x, axis);
  SplitInto(c, x, axis, sizes);
}

void ImportSequenceRepeat(LayerContext& c) {
  const int64_t count = std::max<int64_t>(c.parameters().Integer(1), 1);
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 5) || !c.CheckRange("nRepetitions", count)) return;
  const int axis = x.rank() - 5;
  Shape repeated = x.shape(), merged = x.shape();
  repeated.insert(repeated.begin() + axis, Dim(count));
  merged[axis] = merged[axis] * Dim(count);
  c.SetOutput(0, Reshape(Broadcast(Unsqueeze(x, {axis}), repeated), merged));
}

// Moves blocks of pixels into channels, or back. The position within the block
// is the slower part of the new channel dim.
void ImportReorganize(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  const int64_t block = p.Integer(2);
  if (!c.CheckRank(0, 3) || !c.CheckRange("blockSize", block)) return;
  const int r = x.rank();
  const auto channels = c.Extent(x, r - 3), rows = c.Extent(x, r - 2),
             columns = c.Extent(x, r - 1);
  const auto area = CheckedMultiply(block, block);
  if (!channels || !rows || !columns || !area) return;
  const bool to_depth = p.Integer(1) == 0;
  if (p.Integer(1) > 1 || p.Integer(1) < 0)
    return c.FailUnsupported("mode: expected 0 or 1, found " +
                             std::to_string(p.Integer(1)));
  if (to_depth ? *rows % block != 0 || *columns % block != 0
               : *channels % *area != 0)
    return c.FailInvalid("blockSize: expected a divisor, found " +
                         std::to_string(block));
  Shape lead(x.shape().begin(), x.shape().end() - 3);
  Dim count(1);
  for (const Dim& dim : lead) count = count * dim;
  const Dim b(block);
  Tensor parts;
  Shape result = lead;
  if (to_depth) {
    parts = Transpose(Reshape(x, {count, Dim(*channels), Dim(*rows / block), b,
                                  Dim(*columns / block), b}),
                      {0, 3, 5, 1, 2, 4});
    result.insert(result.end(), {Dim(*channels * *area), Dim(*rows / block),
                                 Dim(*columns / block)});
  } else {
    parts = Transpose(Reshape(x, {count, b, b, Dim(*channels / *area),
                                  Dim(*rows), Dim(*columns)}),
                      {0, 3, 4, 1, 5, 2});
    result.insert(result.end(), {Dim(*channels / *area), Dim(*rows * block),
                                 Dim(*columns * block)});
  }
  c.SetOutput(0, Reshape(parts, result));
}

void ImportSlice(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  const int64_t which = p.Integer(4);
  if (which < 0 || which > 2)
    return c.FailInvalid("axis: expected 0 to 2, found " +
                         std::to_string(which));
  const int axis = c.Axis(which - 3, x.rank());
  const int64_t stride = std::max<int64_t>(p.Integer(3), 1);
  if (!c.CheckRange("stride", stride)) return;
  c.SetOutput(0, Range(c, x, axis, p.Integer(1), p.Integer(2), stride));
}

void ImportSliceStatic(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  Tensor x = c.Input(0);
  const auto begin = p.Integers(1), begin_mask = p.Integers(2),
             end = p.Integers(3), end_mask = p.Integers(4),
             stride = p.Integers(5);
  const auto rank = static_cast<size_t>(x.rank());
  if (begin.size() != rank || end.size() != rank || stride.size() != rank ||
      begin_mask.size() != rank || end_mask.size() != rank) {
    return c.FailInvalid("expected " + std::to_string(rank) +
                         " begins, ends, masks and strides");
  }
  for (int i = 0; i < x.rank(); ++i) {
    if (stride[i] < 1)
      return c.FailUnsupported("strides: expected values above 0, found " +
                               std::to_string(stride[i]));
    const auto extent = c.Extent(x, i);
    if (!extent || !c.CheckRange("stride", stride[i])) return;
    x = Range(c, x, i, begin_mask[i] != 0 ? 0 : begin[i],
              end_mask[i] != 0 ? *extent : end[i], stride[i]);
  }
  c.SetOutput(0, x);
}

void ImportTile(LayerContext& c) {
  Tensor x = c.Input(0);
  const std::vector<int64_t> reps = c.parameters().Integers(1);
  if (static_cast<int>(reps.size()) != x.rank())
    return c.FailInvalid("reps: expected " + std::to_string(x.rank()) +
                         " values, found " + std::to_string(reps.size()));
  for (int i = 0; i < x.rank(); ++i) {
    if (!c.CheckRange("reps", reps[i])) return;
    Shape repeated = x.shape(), merged = x.shape();
    repeated.insert(repeated.begin() + i, Dim(reps[i]));
    merged[i] = merged[i] * Dim(reps[i]);
    x = Reshape(Broadcast(Unsqueeze(x, {i}), repeated), merged);
    if (!c.ok()) return;
  }
  c.SetOutput(0, x);
}

void ImportGather(LayerContext& c) {
  const Tensor x = c.Input(0);
  const int axis = c.Axis(c.parameters().Integer(1), x.rank());
  if (!c.ok()) return;
  c.SetOutput(0, Gather(x,
                        ops::NormalizeIndices(Cast(c.Input(1), DType::kI64),
                                              x.dim(axis)),
                        axis));
}

void ImportGatherAlongAxis(LayerContext& c) {
  const Tensor x = c.Input(0);
  const int axis = c.Axis(c.parameters().Integer(1), x.rank());
  if (!c.ok()) return;
  c.SetOutput(0, Apply("gather_elements",
                       {x, ops::NormalizeIndices(Cast(c.Input(1), DType::kI64),
                                                 x.dim(axis))},
                       {{"axis", int64_t{axis}}}));
}

void ImportTranspose(LayerContext& c) {
  c.SetOutput(0, Transpose(c.Input(0), c.parameters().Integers(1)));
}

void ImportTopK(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  const int axis = c.Axis(p.Integer(1), x.rank());
  const auto extent = c.Extent(x, axis);
  if (!extent) return;
  if (!c.CheckRange("K", p.Integer(2), 1, *extent)) return;
  const std::vector<Tensor> best =
      ApplyAll("top_k", {x},
               {{"axis", int64_t{axis}},
                {"k", Shape{Dim(p.Integer(2))}},
                {"largest", int64_t{p.Flag(3) ? 0 : 1}}});
  if (!c.ok()) return;
  c.SetOutput(0, best[0]);
  c.SetOutput(1, Cast(best[1], DType::kF32));
}

void ImportFillLike(LayerContext& c) {
  c.SetOutput(0,
              Broadcast(c.Scalar(c.parameters().Float(1)), c.Input(0).shape()));
}
void ImportFillStatic(LayerContext& c) {
  const std::vector<int64_t> shape = c.parameters().Integers(2);
  for (const int64_t dim : shape)
    if (!c.CheckRange("targetShape", dim)) return;
  c.SetOutput(0, Broadcast(c.Scalar(c.parameters().Float(1)), ShapeOf(shape)));
}
void ImportBroadcastToLike(LayerContext& c) {
  c.SetOutput(0, Broadcast(c.Input(0), c.Input(1).shape()));
}
void ImportBroadcastToStatic(LayerContext& c) {
  const std::vector<int64_t> shape = c.parameters().Integers(1);
  for (const int64_t dim : shape)
    if (!c.CheckRange("targetShape", dim)) return;
  c.SetOutput(0, Broadcast(c.Input(0), ShapeOf(shape)));
}

void ImportArgSort(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int axis = c.Axis(c.parameters().Integer(1), x.rank());
  if (!c.ok()) return;
  const std::vector<Tensor> sorted =
      ApplyAll("top_k", {x},
               {{"axis", int64_t{axis}},
                {"k", Shape{x.dim(axis)}},
                {"largest", int64_t{c.parameters().Flag(2) ? 1 : 0}}});
  if (c.ok()) c.SetOutput(0, Cast(sorted[1], DType::kF32));
}

void ImportReverse(LayerContext& c) {
  Tensor y = c.Input(0);
  const std::vector<int64_t> reversed = c.parameters().Integers(1);
  if (static_cast<int>(reversed.size()) != y.rank()) {
    return c.FailInvalid("reverseDim: expected " + std::to_string(y.rank()) +
                         " values, found " + std::to_string(reversed.size()));
  }
  for (int axis = 0; axis < y.rank(); ++axis)
    if (reversed[static_cast<size_t>(axis)] != 0) y = ops::Reverse(y, axis);
  c.SetOutput(0, y);
}

void ImportGetShape(LayerContext& c) {
  const Shape& shape = c.Input(0).shape();
  if (!c.CheckRank(0, 1)) return;
  c.SetOutput(0, Cast(c.Wrap(c.builder().ShapeValue(shape)), DType::kF32));
}

void ImportRangeStatic(LayerContext& c) {
  constexpr double kMaxSize = 1 << 30;
  const ProtobufView& p = c.parameters();
  const double end = p.Float(1), start = p.Float(2), step = p.Float(3);
  const double count =
      step == 0 ? -1 : std::max(std::ceil((end - start) / step), 0.0);
  if (!(count >= 0 && count <= kMaxSize)) {
    return c.FailInvalid(
        "expected a range of 0 to 2^30 numbers, found one from " +
        std::to_string(start) + " to " + std::to_string(end) + " by " +
        std::to_string(step));
  }
  c.SetOutput(0, IotaVector(c.builder(), Dim(static_cast<int64_t>(count)),
                            DType::kF32) *
                         step +
                     start);
}

void ImportSqueeze(LayerContext& c) {
  const Tensor x = c.Input(0);
  std::vector<int64_t> axes = c.parameters().Integers(1);
  if (c.parameters().Flag(2)) axes = graph::UnitAxes(c.builder(), x.shape());
  axes = c.Axes(axes, x.rank());
  if (!c.ok()) return;
  // Squeeze keeps at least one dim of 1, as a result is never a scalar.
  if (static_cast<int>(axes.size()) == x.rank() && !axes.empty())
    axes.pop_back();
  c.SetOutput(0, Squeeze(x, axes));
}

void ImportExpandDims(LayerContext& c) {
  const Tensor x = c.Input(0);
  const std::vector<int64_t> axes = c.parameters().Integers(1);
  if (static_cast<int>(axes.size()) + x.rank() > kMaxRank)
    return c.FailInvalid("axes: expected fewer");
  c.SetOutput(
      0, Unsqueeze(x, c.Axes(axes, x.rank() + static_cast<int>(axes.size()))));
}

void ImportFlattenTo2d(LayerContext& c) {
  const Tensor x = c.Input(0);
  const int64_t axis = c.parameters().Integer(1);
  const int64_t first = axis < 0 ? axis + x.rank() : axis;
  if (first < 0 || first > x.rank())
    return c.FailInvalid("axis: expected one of rank " +
                         std::to_string(x.rank()) + ", found " +
                         std::to_string(axis));
  Dim rows(1), columns(1);
  for (int i = 0; i < x.rank(); ++i)
    (i < first ? rows : columns) = (i < first ? rows : columns) * x.dim(i);
  c.SetOutput(0, Reshape(x, {rows, columns}));
}

void ImportReshapeLike(LayerContext& c) {
  c.SetOutput(0, Reshape(c.Input(0), c.Input(1).shape()));
}
void ImportReshapeStatic(LayerContext& c) {
  ReshapeTo(c, c.Input(0), c.parameters().Integers(1));
}

}  // namespace ember::coreml
