// Imports reductions, and selection of elements by size or index.
#include <string>
#include <utility>
#include <vector>

#include "frontends/caffe2/operator_table.h"

namespace ember::caffe2 {
namespace {

// Returns the axes in the argument "axes"; all axes if the operator has no such
// argument.
std::vector<int64_t> ReducedAxes(OperatorContext& c) {
  const int rank = c.Input(0).rank();
  if (c.Has("axes")) return c.Axes(c.Integers("axes"), rank);
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

// Returns the first axes (`front`) or the last ones, as many as
// "num_reduce_dims" or "num_reduce_dim" says (1 by default); nullopt after an
// error.
std::optional<std::vector<int64_t>> EndAxes(OperatorContext& c, bool front) {
  const int rank = c.Input(0).rank();
  const int64_t count =
      c.Integer("num_reduce_dims", c.Integer("num_reduce_dim", 1));
  if (c.input_count() > 1) {
    c.FailUnsupported("lengths (input 1)");
    return std::nullopt;
  }
  if (!c.CheckRange("num_reduce_dim", count, 0, rank)) return std::nullopt;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < count; ++i) axes.push_back(front ? i : rank - 1 - i);
  return axes;
}

Tensor ReducedBy(Tensor x, std::string_view combiner,
                 const std::vector<int64_t>& axes, bool keep) {
  return combiner == "mean" ? Mean(x, axes, keep)
                            : Reduce(x, combiner, axes, keep);
}

void Reduced(OperatorContext& c, std::string_view combiner) {
  const std::vector<int64_t> axes = ReducedAxes(c);
  if (!c.ok()) return;
  c.SetOutput(ReducedBy(c.Input(0), combiner, axes, c.Flag("keepdims", true)));
}

void ReducedEnd(OperatorContext& c, bool front, std::string_view combiner) {
  const auto axes = EndAxes(c, front);
  if (axes) c.SetOutput(ReducedBy(c.Input(0), combiner, *axes, false));
}

void Extreme(OperatorContext& c, const std::string& mode) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int axis = c.AxisOf("axis", -1, x.rank());
  if (!c.ok()) return;
  const Tensor y =
      Apply("arg_reduce", {x},
            {{"mode", mode}, {"axis", int64_t{axis}}, {"last", int64_t{0}}});
  c.SetOutput(
      Cast(c.Flag("keepdims", true) ? Unsqueeze(y, {axis}) : y, DType::kI64));
}

}  // namespace

void ImportReduceSum(OperatorContext& c) { Reduced(c, "sum"); }
void ImportReduceMean(OperatorContext& c) { Reduced(c, "mean"); }
void ImportReduceMax(OperatorContext& c) { Reduced(c, "maximum"); }
void ImportReduceMin(OperatorContext& c) { Reduced(c, "minimum"); }
void ImportReduceL1(OperatorContext& c) {
  const std::vector<int64_t> axes = ReducedAxes(c);
  c.SetOutput(
      Reduce(Absolute(c.Input(0)), "sum", axes, c.Flag("keepdims", true)));
}
void ImportReduceL2(OperatorContext& c) {
  const std::vector<int64_t> axes = ReducedAxes(c);
  const Tensor x = c.Input(0);
  c.SetOutput(Sqrt(Reduce(x * x, "sum", axes, c.Flag("keepdims", true))));
}

void ImportReduceFrontSum(OperatorContext& c) { ReducedEnd(c, true, "sum"); }
void ImportReduceFrontMean(OperatorContext& c) { ReducedEnd(c, true, "mean"); }
void ImportReduceFrontMax(OperatorContext& c) {
  ReducedEnd(c, true, "maximum");
}
void ImportReduceBackSum(OperatorContext& c) { ReducedEnd(c, false, "sum"); }
void ImportReduceBackMean(OperatorContext& c) { ReducedEnd(c, false, "mean"); }
void ImportReduceBackMax(OperatorContext& c) {
  ReducedEnd(c, false, "maximum");
}

// Imports SumElements: the sum of all elements, or their mean with "average".
void ImportSumElements(OperatorContext& c) {
  const std::vector<int64_t> axes = ReducedAxes(c);
  c.SetOutput(ReducedBy(c.Input(0), c.Flag("average", false) ? "mean" : "sum",
                        axes, false));
}
void ImportAveragedLoss(OperatorContext& c) {
  c.SetOutput(Mean(c.Input(0), ReducedAxes(c), false));
}

void ImportArgMax(OperatorContext& c) { Extreme(c, "maximum"); }
void ImportArgMin(OperatorContext& c) { Extreme(c, "minimum"); }

void ImportTopK(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int axis = c.AxisOf("axis", -1, x.rank());
  const int64_t k = c.Integer("k", -1);
  if (!c.CheckPositive("k", k)) return;
  if (c.op().output_size() > 2)
    return c.FailUnsupported("places in the flattened operand (output 2)");
  const auto extent = x.dim(axis).AsConstant();
  if (extent && k > *extent) {
    return c.FailInvalid("k: expected at most " + std::to_string(*extent) +
                         ", found " + std::to_string(k));
  }
  const std::vector<Tensor> results = ApplyAll(
      "top_k", {x},
      {{"axis", int64_t{axis}}, {"k", Shape{Dim(k)}}, {"largest", int64_t{1}}});
  if (results.size() < 2) return;
  c.SetOutput(0, results[0]);
  c.SetOutput(1, results[1]);
}

// Imports DotProduct: for each row, the dot product of that row of the first
// operand and the same row of the second.
void ImportDotProduct(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  const Tensor x = c.Input(0) * c.Input(1);
  std::vector<int64_t> axes;
  for (int i = 1; i < x.rank(); ++i) axes.push_back(i);
  c.SetOutput(Reduce(x, "sum", axes, false));
}
void ImportSquaredL2Distance(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  const Tensor x = c.Input(0) - c.Input(1);
  std::vector<int64_t> axes;
  for (int i = 1; i < x.rank(); ++i) axes.push_back(i);
  c.SetOutput(Reduce(x * x, "sum", axes, false) * 0.5);
}

void ImportOneHot(OperatorContext& c) {
  if (!c.CheckRank(0, 1, 1)) return;
  const auto size = c.Contents(c.Input(1), "index_size (input 1)");
  if (!size) return;
  if (size->size() != 1)
    return c.FailInvalid("index_size (input 1): expected one number, found " +
                         std::to_string(size->size()));
  const auto depth = (*size)[0].AsConstant();
  if (!depth) return c.FailUnsupported("an index_size (input 1) that is open");
  if (!c.CheckPositive("index_size (input 1)", *depth)) return;
  const Tensor places = IotaVector(c.builder(), Dim(*depth), DType::kI64);
  c.SetOutput(Cast(Equal(Unsqueeze(Cast(c.Input(0), DType::kI64), {1}), places),
                   DType::kF32));
}

}  // namespace ember::caffe2
