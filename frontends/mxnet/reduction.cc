// Imports reductions, sorting, selection by index, and constants.
#include <algorithm>
#include <string>
#include <vector>

#include "base/one_line.h"
#include "frontends/mxnet/operator_table.h"

namespace ember::mxnet {
namespace {

// Returns the axes in the attribute "axis" or, with "exclude", all other axes.
// Without the attribute it returns all axes.
std::vector<int64_t> ReducedAxes(NodeContext& c) {
  const int rank = c.Input(0).rank();
  std::vector<int64_t> axes = c.Axes(c.Integers("axis"), rank);
  const bool none = !c.Has("axis") || axes.empty();
  if (!none && !c.Flag("exclude", false)) return axes;
  std::vector<int64_t> others;
  for (int i = 0; i < rank; ++i) {
    if (none || std::find(axes.begin(), axes.end(), i) == axes.end())
      others.push_back(i);
  }
  return others;
}

// Sets the result of a reduction. MXNet has no scalars: a single number has
// shape [1].
void SetReduced(NodeContext& c, Tensor y) {
  c.SetOutput(y.rank() == 0 && c.ok() ? Reshape(y, {Dim(1)}) : y);
}

void Reduced(NodeContext& c, std::string_view combiner) {
  SetReduced(c, Reduce(c.Input(0), combiner, ReducedAxes(c),
                       c.Flag("keepdims", false)));
}

void Extreme(NodeContext& c, const std::string& mode) {
  Tensor x = c.Input(0);
  const bool keep = c.Flag("keepdims", false);
  int axis = 0;
  if (c.Has("axis")) {
    axis = c.Axis(c.Integer("axis", 0), x.rank());
  } else {
    x = Reshape(x, {graph::ElementCount(x.shape())});
  }
  if (!c.ok() || !x.HasDim(axis)) return;
  Tensor y =
      Apply("arg_reduce", {x},
            {{"mode", mode}, {"axis", int64_t{axis}}, {"last", int64_t{0}}});
  if (keep) y = Unsqueeze(y, {axis});
  SetReduced(c, Cast(y, DType::kF32));
}

}  // namespace

void ImportSum(NodeContext& c) { Reduced(c, "sum"); }
void ImportProd(NodeContext& c) { Reduced(c, "product"); }
void ImportMax(NodeContext& c) { Reduced(c, "maximum"); }
void ImportMin(NodeContext& c) { Reduced(c, "minimum"); }
void ImportMean(NodeContext& c) {
  SetReduced(c, Mean(c.Input(0), ReducedAxes(c), c.Flag("keepdims", false)));
}

void ImportNorm(NodeContext& c) {
  const Tensor x = c.Input(0);
  const int64_t order = c.Integer("ord", 2);
  const bool keep = c.Flag("keepdims", false);
  if (order == 1)
    return SetReduced(c, Reduce(Absolute(x), "sum", ReducedAxes(c), keep));
  if (order != 2) return c.FailUnsupported("ord: expected 1 or 2");
  SetReduced(c, Sqrt(Reduce(x * x, "sum", ReducedAxes(c), keep)));
}

void ImportArgmax(NodeContext& c) { Extreme(c, "maximum"); }
void ImportArgmin(NodeContext& c) { Extreme(c, "minimum"); }

void ImportArgmaxChannel(NodeContext& c) {
  if (!c.CheckRank(0, 2)) return;
  c.SetOutput(Cast(Apply("arg_reduce", {c.Input(0)},
                         {{"mode", std::string("maximum")},
                          {"axis", int64_t{1}},
                          {"last", int64_t{0}}}),
                   DType::kF32));
}

void ImportTopK(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", -1), x.rank());
  int64_t k = c.Integer("k", 1);
  if (k == 0) k = x.dim(axis).AsConstant().value_or(0);
  if (!c.CheckPositive("k", k)) return;
  const std::string kind = c.Text("ret_typ", "indices");
  const bool largest = !c.Flag("is_ascend", false);
  const Tensor count = ops::DimScalar(c.builder(), Dim(k));
  const std::vector<Tensor> results = ApplyAll("top_k", {x},
                                               {{"axis", int64_t{axis}},
                                                {"k", Shape{Dim(k)}},
                                                {"largest", int64_t{largest}}});
  if (results.size() < 2) return;
  const Tensor indices = Cast(results[1], c.Type("dtype", DType::kF32));
  if (kind == "value") return c.SetOutput(results[0]);
  if (kind == "indices") return c.SetOutput(indices);
  if (kind == "both") {
    c.SetOutput(0, results[0]);
    return c.SetOutput(1, indices);
  }
  c.FailUnsupported("ret_typ '" + OnOneLine(kind) + "'");
}

void ImportTake(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 0)) return;
  const Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", 0), x.rank());
  const std::string mode = c.Text("mode", "clip");
  const Tensor extent = ops::DimScalar(c.builder(), x.dim(axis));
  Tensor index = Cast(c.Input(1), DType::kI64);
  if (mode == "clip") {
    index = Minimum(Maximum(index, 0), extent - 1.0);
  } else if (mode == "wrap") {
    index = Modulo(Modulo(index, extent) + extent, extent);
  } else {
    index = ops::NormalizeIndices(index, x.dim(axis));
  }
  c.SetOutput(Gather(x, index, axis));
}

// Imports pick, which returns one element of each row along the axis: the
// element with the index that the second operand gives for that row.
void ImportPick(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 0)) return;
  const Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", -1), x.rank());
  const bool keep = c.Flag("keepdims", false);
  Tensor index = Cast(c.Input(1), DType::kI64);
  if (index.rank() < x.rank()) index = Unsqueeze(index, {axis});
  const Tensor extent = ops::DimScalar(c.builder(), x.dim(axis));
  index = Minimum(Maximum(index, 0), extent - 1.0);
  const Tensor y =
      Apply("gather_elements", {x, index}, {{"axis", int64_t{axis}}});
  c.SetOutput(keep ? y : Squeeze(y, {axis}));
}

void ImportGatherNd(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 2)) return;
  const Tensor index = Cast(c.Input(1), DType::kI64);
  std::vector<int64_t> order;
  for (int i = 1; i < index.rank(); ++i) order.push_back(i);
  order.push_back(0);
  c.SetOutput(Apply("gather_nd", {c.Input(0), Transpose(index, order)},
                    {{"batch_dims", int64_t{0}}}));
}

void ImportOneHot(NodeContext& c) {
  const Tensor index = c.Input(0);
  const int64_t depth = c.Integer("depth", 0);
  if (!c.CheckPositive("depth", depth)) return;
  const DType type = c.Type("dtype", DType::kF32);
  const Tensor places = IotaVector(c.builder(), Dim(depth), DType::kI64);
  const Tensor hits =
      Equal(Unsqueeze(Cast(index, DType::kI64), {index.rank()}), places);
  c.SetOutput(Select(hits, c.Scalar(c.Number("on_value", 1), type),
                     c.Scalar(c.Number("off_value", 0), type)));
}

namespace {

void Filled(NodeContext& c, double value) {
  Shape shape;
  for (const int64_t dim : c.Integers("shape")) {
    if (dim < 0) return c.FailInvalid("shape: expected dims of 0 or more");
    shape.push_back(Dim(dim));
  }
  if (c.ok())
    c.SetOutput(
        Broadcast(c.Scalar(value, c.Type("dtype", DType::kF32)), shape));
}

}  // namespace

void ImportZeros(NodeContext& c) { Filled(c, 0); }
void ImportOnes(NodeContext& c) { Filled(c, 1); }
void ImportFull(NodeContext& c) { Filled(c, c.Number("value", 0)); }

void ImportArange(NodeContext& c) {
  const double start = c.Number("start", 0), step = c.Number("step", 1);
  const int64_t repeat = c.Integer("repeat", 1);
  if (!c.Has("stop") || c.Flag("infer_range", false))
    return c.FailUnsupported("a range without an end");
  const double count = (c.Number("stop", 0) - start) / step;
  if (!(count >= 0 && count < 1e9) || !c.CheckPositive("repeat", repeat))
    return c.FailInvalid("expected a range of fewer than 1e9 elements");
  const auto whole = static_cast<int64_t>(count);
  const Dim size(whole + (static_cast<double>(whole) < count ? 1 : 0));
  const Tensor values =
      IotaVector(c.builder(), size, DType::kF32) * step + start;
  c.SetOutput(Cast(ops::RepeatEach(values, 0, Dim(repeat)),
                   c.Type("dtype", DType::kF32)));
}

}  // namespace ember::mxnet
