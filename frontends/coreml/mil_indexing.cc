// Imports MIL's operations that gather or scatter elements by indices, or
// compute indices.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "frontends/coreml/gather_scatter.h"
#include "frontends/coreml/matrices.h"
#include "frontends/coreml/mil_operation.h"
#include "frontends/ops/einsum.h"

namespace ember::coreml {
namespace {

std::optional<ScatterUpdate> ReadUpdate(MilOperation& o) {
  return UpdateOf(o, o.Text("mode", "add"), o.Input("updates"));
}

void GatherNd(MilOperation& o) {
  o.SetOutput(0, GatherTuples(o, o.Input("x"), o.Input("indices")));
}

void ScatterNd(MilOperation& o) {
  const std::optional<ScatterUpdate> update = ReadUpdate(o);
  if (!update) return;
  o.SetOutput(0,
              ScatterTuples(o, o.Input("data"), o.Input("indices"), *update));
}

void ScatterAlongAxis(MilOperation& o) {
  const Tensor data = o.Input("data");
  const int axis = o.Axis("axis", 0, data.rank());
  const std::optional<ScatterUpdate> update = ReadUpdate(o);
  if (!update || !o.ok()) return;
  o.SetOutput(0, ScatterAlong(data, o.Input("indices"), *update, axis));
}

void Scatter(MilOperation& o) {
  const Tensor data = o.Input("data");
  const int axis = o.Axis("axis", 0, data.rank());
  const std::optional<ScatterUpdate> update = ReadUpdate(o);
  if (!update || !o.ok()) return;
  o.SetOutput(0, ScatterSlices(o, data, o.Input("indices"), *update, axis));
}

void NonZero(MilOperation& o) {
  if (o.CheckRank("x", 1))
    o.SetOutput(0, Cast(IndicesOfNonZero(o.Input("x")), DType::kI32));
}

void ReverseSequence(MilOperation& o) {
  if (!o.CheckRank("x", 2) || !o.CheckRank("lengths", 1, 1)) return;
  const Tensor x = o.Input("x");
  const int axis = o.Axis("seq_axis", 0, x.rank());
  const int batch = o.Axis("batch_axis", 0, x.rank());
  if (o.ok())
    o.SetOutput(0, ReverseSequences(x, o.Input("lengths"), batch, axis));
}

void Windows(MilOperation& o) {
  const Tensor x = o.Input("x");
  const int axis = o.Axis("axis", 0, x.rank());
  if (!o.ok()) return;
  o.SetOutput(0, SlidingWindows(o, x, axis, o.Integer("size", 1),
                                o.Integer("stride", 1)));
}

void OneHot(MilOperation& o) {
  const Tensor indices = o.Input("indices");
  const int64_t size = o.Integer("one_hot_vector_size", 0);
  const int rank = indices.rank() + 1;
  const int axis = o.Axis("axis", -1, rank);
  if (!o.CheckRange("one_hot_vector_size", size, 0, int64_t{1} << 32)) return;
  const Tensor places = ops::AlongAxis(
      IotaVector(o.builder(), Dim(size), DType::kI64), axis, rank);
  const Tensor hit =
      Equal(places, Unsqueeze(Cast(indices, DType::kI64), {axis}));
  const auto value = [&](std::string_view name, int64_t otherwise) {
    return o.Has(name) ? Reshape(o.Input(name), Shape{})
                       : o.Wrap(o.builder().Scalar(
                             static_cast<double>(otherwise), DType::kI32));
  };
  Tensor on = value("on_value", 1), off = value("off_value", 0);
  // If only one of one_hot's inputs on_value and off_value is given, the
  // default of the other one is converted to its type.
  if (!o.Has("on_value")) on = Cast(on, off.dtype());
  if (!o.Has("off_value")) off = Cast(off, on.dtype());
  o.SetOutput(0, Select(hit, on, off));
}

void Argsort(MilOperation& o) {
  const Tensor x = o.Input("x");
  const int axis = o.Axis("axis", -1, x.rank());
  if (!o.CheckRank("x", 1)) return;
  const std::vector<Tensor> sorted =
      ApplyAll("top_k", {x},
               {{"axis", int64_t{axis}},
                {"k", Shape{x.dim(axis)}},
                {"largest", int64_t{o.Flag("ascending", false) ? 0 : 1}}});
  if (o.ok()) o.SetOutput(0, Cast(sorted[1], DType::kI32));
}

// Imports range_1d: the numbers start, start + step, … before end. All three
// operands must be constants.
void Range(MilOperation& o) {
  constexpr double kMaxSize = 1 << 30;
  const double start = o.Number("start", 0), end = o.Number("end", 0),
               step = o.Number("step", 1);
  if (!o.ok()) return;
  const double count =
      step == 0 ? -1 : std::max(std::ceil((end - start) / step), 0.0);
  if (!(count >= 0 && count <= kMaxSize)) {
    return o.FailInvalid(
        "expected a range of 0 to 2^30 numbers, found one from " +
        std::to_string(start) + " to " + std::to_string(end) + " by " +
        std::to_string(step));
  }
  const DType dtype = o.Input("end").dtype();
  const Tensor places =
      IotaVector(o.builder(), Dim(static_cast<int64_t>(count)), dtype);
  o.SetOutput(0, places * step + start);
}

// Imports band_part. A negative limit means no limit.
void BandPart(MilOperation& o) {
  if (!o.CheckRank("x", 2)) return;
  const auto limit = [&](std::string_view name) {
    const int64_t number = o.Integer(name, -1);
    return number < 0 ? std::nullopt : std::optional(number);
  };
  const auto lower = limit("lower"), upper = limit("upper");
  if (o.ok()) o.SetOutput(0, Band(o.Input("x"), lower, upper));
}

void EinsumOf(MilOperation& o) {
  const std::vector<Tensor> values = o.Inputs("values");
  if (!o.ok()) return;
  o.SetOutput(0, ops::Einsum(o.builder(), o.Text("equation", ""), values));
}

void FillLike(MilOperation& o) {
  const Tensor shape_of = o.Input("ref_tensor");
  if (!o.ok()) return;
  const Tensor value =
      o.Has("value") ? Reshape(o.Input("value"), Shape{}) : o.Scalar(0);
  o.SetOutput(0, Broadcast(value, shape_of.shape()));
}

constexpr MilRow kRows[] = {
    {"argsort", Argsort},
    {"band_part", BandPart},
    {"einsum", EinsumOf},
    {"fill_like", FillLike},
    {"gather_nd", GatherNd},
    {"non_zero", NonZero},
    {"one_hot", OneHot},
    {"range_1d", Range},
    {"reverse_sequence", ReverseSequence},
    {"scatter", Scatter},
    {"scatter_along_axis", ScatterAlongAxis},
    {"scatter_nd", ScatterNd},
    {"sliding_windows", Windows},
};

}  // namespace

std::span<const MilRow> MilIndexing() { return kRows; }

}  // namespace ember::coreml
