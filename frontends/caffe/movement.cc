// Imports layers that move elements, select some of them, or combine several
// bottoms.
#include <algorithm>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "frontends/caffe/layer_table.h"
#include "frontends/ops/dims.h"

namespace ember::caffe {
namespace {

// Returns the dims that a parameter of a layer gives for its top; nullopt after
// an error.
std::optional<std::vector<int64_t>> DimsOf(LayerContext& c,
                                           const BlobShape& shape) {
  std::vector<int64_t> dims(shape.dim().begin(), shape.dim().end());
  for (const int64_t dim : dims) {
    if (!c.CheckRange("shape", dim, 0)) return std::nullopt;
  }
  return dims;
}

}  // namespace

// Imports ArgMax. Results are the indices of the top_k largest elements, their
// values, or both: of each whole image, or along an axis. Among equal elements
// the last one comes first.
void ImportArgMax(LayerContext& c) {
  const ArgMaxParameter& p = c.layer().argmax_param();
  Tensor x = c.Input(0);
  const int rank = x.rank();
  if (!c.CheckRank(0, 1)) return;
  const bool has_axis = p.has_axis();
  const int axis = has_axis ? c.Axis(p.axis(), rank) : 1;
  Shape shape = x.shape();
  if (!has_axis) {
    x = Reshape(
        x, {x.dim(0), ElementCount(x.shape(), 1, static_cast<size_t>(rank))});
    shape.assign(static_cast<size_t>(std::max(rank, 3)), Dim(1));
    shape[0] = x.dim(0);
  }
  const std::optional<int64_t> count = c.Extent(x, axis);
  if (!count) return;
  if (!c.CheckRange("top_k", p.top_k(), 1, *count)) return;
  Tensor values, places;
  if (p.top_k() == 1) {
    values = Reduce(x, "maximum", {axis}, /*keep=*/true);
    places = Unsqueeze(Apply("arg_reduce", {x},
                             {{"mode", std::string("maximum")},
                              {"axis", int64_t{axis}},
                              {"last", int64_t{1}}}),
                       {axis});
  } else {
    const std::vector<Tensor> best = ApplyAll("top_k", {ops::Reverse(x, axis)},
                                              {{"axis", int64_t{axis}},
                                               {"k", Shape{Dim(p.top_k())}},
                                               {"largest", int64_t{1}}});
    if (!c.ok()) return;
    values = best[0];
    places = c.Scalar(static_cast<double>(*count - 1), DType::kI64) - best[1];
  }
  places = Cast(places, DType::kF32);
  if (has_axis) return c.SetOutput(0, p.out_max_val() ? values : places);
  shape[2] = Dim(p.top_k());
  if (!p.out_max_val()) return c.SetOutput(0, Reshape(places, shape));
  shape[1] = Dim(2);
  c.SetOutput(
      0, Reshape(Concat({Unsqueeze(places, {1}), Unsqueeze(values, {1})}, 1),
                 shape));
}

void ImportBatchReindex(LayerContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1, 1)) return;
  c.SetOutput(0, Gather(c.Input(0), Cast(c.Input(1), DType::kI64), 0));
}

void ImportConcat(LayerContext& c) {
  const ConcatParameter& p = c.layer().concat_param();
  const int64_t axis = p.has_concat_dim() ? p.concat_dim() : p.axis();
  c.SetOutput(0, Concat(c.inputs(), c.Axis(axis, c.Input(0).rank())));
}

void ImportCrop(LayerContext& c) {
  const CropParameter& p = c.layer().crop_param();
  const Tensor x = c.Input(0), like = c.Input(1);
  if (like.rank() != x.rank()) {
    return c.FailInvalid("expected bottoms of one rank, found " +
                         graph::ShapeToString(x.shape()) + " and " +
                         graph::ShapeToString(like.shape()));
  }
  const int axis = c.Axis(p.axis(), x.rank());
  if (p.offset_size() > 1 && p.offset_size() != x.rank() - axis) {
    return c.FailInvalid("offset: expected one value or " +
                         std::to_string(x.rank() - axis) + ", found " +
                         std::to_string(p.offset_size()));
  }
  Tensor y = x;
  for (int i = axis; i < x.rank(); ++i) {
    const int64_t offset = p.offset_size() == 0   ? 0
                           : p.offset_size() == 1 ? p.offset(0)
                                                  : p.offset(i - axis);
    if (!c.CheckRange("offset", offset, 0)) return;
    y = SliceAxis(y, i, Dim(offset), like.dim(i));
  }
  c.SetOutput(0, y);
}

// Imports DummyData, whose tops are constants. Random fillers are refused.
void ImportDummyData(LayerContext& c) {
  const DummyDataParameter& p = c.layer().dummy_data_param();
  for (int i = 0; i < c.output_count(); ++i) {
    // DummyData's lists of shapes, extents and fillers have one entry for all
    // tops, or one for each top.
    const auto index = [&](int size) { return size == 1 ? 0 : i; };
    BlobShape shape;
    const bool has_shape = p.shape_size() > 0;
    const int counts[] = {p.num_size(), p.channels_size(), p.height_size(),
                          p.width_size()};
    for (const int count : counts) {
      if (!has_shape && index(count) >= count)
        return c.FailInvalid("expected a shape for each top, found none");
    }
    if (has_shape) {
      if (index(p.shape_size()) >= p.shape_size())
        return c.FailInvalid("expected a shape for each top, found " +
                             std::to_string(p.shape_size()));
      shape = p.shape(index(p.shape_size()));
    } else {
      shape.add_dim(p.num(index(p.num_size())));
      shape.add_dim(p.channels(index(p.channels_size())));
      shape.add_dim(p.height(index(p.height_size())));
      shape.add_dim(p.width(index(p.width_size())));
    }
    const auto dims = DimsOf(c, shape);
    if (!dims) return;
    FillerParameter filler;
    if (p.data_filler_size() > 0) {
      if (index(p.data_filler_size()) >= p.data_filler_size())
        return c.FailInvalid("data_filler: expected one for each top, found " +
                             std::to_string(p.data_filler_size()));
      filler = p.data_filler(index(p.data_filler_size()));
    }
    if (filler.type() != "constant") {
      return c.FailUnsupported(
          "data_filler: random numbers differ from run to run: make the top "
          "an input of the net");
    }
    c.SetOutput(i, Broadcast(c.Scalar(filler.value()), ShapeOf(*dims)));
  }
}

void ImportEltwise(LayerContext& c) {
  const EltwiseParameter& p = c.layer().eltwise_param();
  if (p.coeff_size() > 0 && (p.coeff_size() != c.input_count() ||
                             p.operation() != EltwiseParameter::SUM)) {
    return c.FailInvalid(
        "coeff: expected none, or one for each bottom of a sum, found " +
        std::to_string(p.coeff_size()));
  }
  Tensor y;
  for (int i = 0; i < c.input_count(); ++i) {
    Tensor x = c.Input(i);
    if (x.shape() != c.Input(0).shape()) {
      return c.FailInvalid("expected bottoms of one shape, found " +
                           graph::ShapeToString(c.Input(0).shape()) + " and " +
                           graph::ShapeToString(x.shape()));
    }
    if (p.coeff_size() > 0 && p.coeff(i) != 1) x = x * p.coeff(i);
    if (i == 0) {
      y = x;
    } else if (p.operation() == EltwiseParameter::PROD) {
      y = y * x;
    } else if (p.operation() == EltwiseParameter::SUM) {
      y = y + x;
    } else {
      y = Maximum(y, x);
    }
  }
  c.SetOutput(0, y);
}

// Imports Embed, which selects rows of a table by the numbers in the bottom.
void ImportEmbed(LayerContext& c) {
  const EmbedParameter& p = c.layer().embed_param();
  if (!c.CheckRange("num_output", p.num_output()) ||
      !c.CheckRange("input_dim", p.input_dim()))
    return;
  const Tensor w = c.Weight(0, {p.input_dim(), p.num_output()});
  const Tensor y = Gather(w, Cast(c.Input(0), DType::kI64), 0);
  c.SetOutput(0, p.bias_term() ? y + c.Weight(1, {p.num_output()}) : y);
}

void ImportFlatten(LayerContext& c) {
  const FlattenParameter& p = c.layer().flatten_param();
  const Tensor x = c.Input(0);
  const int first = c.Axis(p.axis(), x.rank());
  const int last = c.Axis(p.end_axis(), x.rank());
  if (!c.ok()) return;
  if (last < first) {
    return c.FailInvalid("end_axis: expected one from axis " +
                         std::to_string(first) + " on, found " +
                         std::to_string(last));
  }
  Shape shape(x.shape().begin(), x.shape().begin() + first);
  shape.push_back(ElementCount(x.shape(), static_cast<size_t>(first),
                               static_cast<size_t>(last) + 1));
  shape.insert(shape.end(), x.shape().begin() + last + 1, x.shape().end());
  c.SetOutput(0, Reshape(x, shape));
}

void ImportParameter(LayerContext& c) {
  const auto dims = DimsOf(c, c.layer().parameter_param().shape());
  if (dims) c.SetOutput(0, c.Weight(0, *dims));
}

// Imports Permute. Axes that the order leaves out follow in ascending order.
void ImportPermute(LayerContext& c) {
  const PermuteParameter& p = c.layer().permute_param();
  const Tensor x = c.Input(0);
  std::vector<int64_t> order;
  for (const int64_t axis : p.order()) {
    if (axis < 0 || axis >= x.rank() ||
        std::find(order.begin(), order.end(), axis) != order.end()) {
      return c.FailInvalid("order: expected different axes below " +
                           std::to_string(x.rank()) + ", found " +
                           std::to_string(axis));
    }
    order.push_back(axis);
  }
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    if (std::find(order.begin(), order.end(), axis) == order.end())
      order.push_back(axis);
  }
  c.SetOutput(0, Transpose(x, order));
}

// Imports Reduction: reduces all axes from the parameter `axis` on, so that one
// number is left for them.
void ImportReduction(LayerContext& c) {
  const ReductionParameter& p = c.layer().reduction_param();
  Tensor x = c.Input(0);
  const int axis = x.rank() == 0 ? 0 : c.Axis(p.axis(), x.rank());
  std::vector<int64_t> axes;
  for (int i = axis; i < x.rank(); ++i) axes.push_back(i);
  if (p.operation() == ReductionParameter::ASUM) x = Absolute(x);
  if (p.operation() == ReductionParameter::SUMSQ) x = x * x;
  const Tensor y = p.operation() == ReductionParameter::MEAN
                       ? Mean(x, axes, /*keep=*/false)
                       : Reduce(x, "sum", axes, /*keep=*/false);
  c.SetOutput(0, p.coeff() == 1 ? y : y * p.coeff());
}

// Imports Darknet's Reorg: moves each block of s x s pixels into the channels,
// or back (reverse). The index of a new channel is (position within the block)
// * channels + channel.
void ImportReorg(LayerContext& c) {
  const ReorgParameter& p = c.layer().reorg_param();
  if (!c.CheckRank(0, 4, 4) || !c.CheckRange("stride", p.stride())) return;
  const Tensor x = c.Input(0);
  const auto extents = c.Extents(x, 1, 4);
  if (!extents) return;
  const int64_t s = p.stride();
  const int64_t channels = (*extents)[0], h = (*extents)[1], w = (*extents)[2];
  const std::optional<int64_t> area = CheckedMultiply(s, s);
  if (!area || channels % *area != 0 ||
      (!p.reverse() && (h % s != 0 || w % s != 0))) {
    return c.FailInvalid(
        "stride: expected channels that its square divides, "
        "and rows and columns that it divides, found " +
        std::to_string(s) + " and " + graph::ShapeToString(x.shape()));
  }
  const Dim n = x.dim(0), inner(channels / *area), step(s);
  if (p.reverse()) {
    // Splits and permutes the dims: [n, (row, column, inner), h, w] to [n,
    // inner, h, row, w, column].
    const Tensor parts = Reshape(x, {n, step, step, inner, Dim(h), Dim(w)});
    return c.SetOutput(0, Reshape(Transpose(parts, {0, 3, 4, 1, 5, 2}),
                                  {n, inner, Dim(h * s), Dim(w * s)}));
  }
  const Tensor parts = Reshape(x, {n, inner, Dim(h), step, Dim(w), step});
  c.SetOutput(0, Reshape(Transpose(parts, {0, 3, 5, 1, 2, 4}),
                         {n, Dim(channels * *area), Dim(h / s), Dim(w / s)}));
}

// Imports Reshape. A 0 keeps an extent, -1 is inferred from the rest.
void ImportReshape(LayerContext& c) {
  const ReshapeParameter& p = c.layer().reshape_param();
  const Tensor x = c.Input(0);
  const int64_t rank = x.rank();
  const int64_t first = p.axis() >= 0 ? p.axis() : rank + p.axis() + 1;
  const int64_t count = p.num_axes() == -1 ? rank - first : p.num_axes();
  if (first < 0 || first > rank || count < 0 || count > rank - first) {
    return c.FailInvalid("axis, num_axes: expected axes of rank " +
                         std::to_string(rank) + ", found " +
                         std::to_string(p.axis()) + " and " +
                         std::to_string(p.num_axes()));
  }
  Shape shape(x.shape().begin(), x.shape().begin() + first);
  int inferred = -1;
  for (int i = 0; i < p.shape().dim_size(); ++i) {
    const int64_t dim = p.shape().dim(i);
    if (dim == -1 && inferred < 0) {
      inferred = static_cast<int>(shape.size());
      shape.push_back(Dim(1));
      continue;
    }
    if (!c.CheckRange("shape", dim, 0)) return;
    if (dim == 0 && (i >= count || first + i >= rank)) {
      return c.FailInvalid("shape: expected a value for dim " +
                           std::to_string(i) + ", found 0, and no bottom's");
    }
    shape.push_back(dim == 0 ? x.dim(static_cast<int>(first + i)) : Dim(dim));
  }
  shape.insert(shape.end(), x.shape().begin() + first + count, x.shape().end());
  if (inferred >= 0) {
    const auto left = ops::DivideElementCounts(x.shape(), shape);
    if (!left) {
      return c.FailInvalid("shape: expected one that " +
                           graph::ShapeToString(x.shape()) +
                           " fits, found dims that do not divide it");
    }
    shape[static_cast<size_t>(inferred)] = *left;
  }
  c.SetOutput(0, Reshape(x, shape));
}

void ImportShuffleChannel(LayerContext& c) {
  const int64_t group = c.layer().shuffle_channel_param().group();
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 2)) return;
  const std::optional<int64_t> channels = c.Extent(x, 1);
  if (!channels || !c.CheckRange("group", group)) return;
  if (*channels % group != 0) {
    return c.FailInvalid("group: expected a divisor of " +
                         std::to_string(*channels) + " channels, found " +
                         std::to_string(group));
  }
  Shape parts{x.dim(0), Dim(group), Dim(*channels / group)};
  parts.insert(parts.end(), x.shape().begin() + 2, x.shape().end());
  std::vector<int64_t> order{0, 2, 1};
  for (int64_t i = 3; i <= x.rank(); ++i) order.push_back(i);
  c.SetOutput(0, Reshape(Transpose(Reshape(x, parts), order), x.shape()));
}

void ImportSilence(LayerContext& /*c*/) {}

void ImportSlice(LayerContext& c) {
  const SliceParameter& p = c.layer().slice_param();
  const Tensor x = c.Input(0);
  const int axis =
      c.Axis(p.has_slice_dim() ? p.slice_dim() : p.axis(), x.rank());
  const std::optional<int64_t> extent = c.Extent(x, axis);
  if (!extent) return;
  const int count = c.output_count();
  std::vector<int64_t> points(p.slice_point().begin(), p.slice_point().end());
  if (points.empty()) {
    if (*extent % count != 0) {
      return c.FailInvalid("expected an extent that " + std::to_string(count) +
                           " tops divide, found " + std::to_string(*extent));
    }
    for (int i = 1; i < count; ++i) points.push_back(*extent / count * i);
  }
  points.insert(points.begin(), 0);
  points.push_back(*extent);
  if (static_cast<int>(points.size()) != count + 1 ||
      !std::is_sorted(points.begin(), points.end())) {
    return c.FailInvalid("slice_point: expected " + std::to_string(count - 1) +
                         " increasing values below " + std::to_string(*extent) +
                         ", found " + std::to_string(points.size() - 2) +
                         " or others");
  }
  for (int i = 0; i < count; ++i) {
    c.SetOutput(
        i, SliceAxis(x, axis, Dim(points[i]), Dim(points[i + 1] - points[i])));
  }
}

void ImportSplit(LayerContext& c) {
  for (int i = 0; i < c.output_count(); ++i) c.SetOutput(i, c.Input(0));
}

void ImportTile(LayerContext& c) {
  const TileParameter& p = c.layer().tile_param();
  const Tensor x = c.Input(0);
  const int axis = c.Axis(p.axis(), x.rank());
  if (!c.CheckRange("tiles", p.tiles()) || !c.ok()) return;
  Shape repeated = x.shape(), merged = x.shape();
  repeated.insert(repeated.begin() + axis, Dim(p.tiles()));
  merged[axis] = merged[axis] * Dim(p.tiles());
  c.SetOutput(0, Reshape(Broadcast(Unsqueeze(x, {axis}), repeated), merged));
}

}  // namespace ember::caffe
