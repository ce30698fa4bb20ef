// Imports layers that gather and scatter elements by indices.
#include <string>
#include <vector>

#include "frontends/coreml/gather_scatter.h"
#include "frontends/coreml/layer_table.h"

namespace ember::coreml {
namespace {

std::optional<ScatterUpdate> ReadUpdate(LayerContext& c, uint64_t field) {
  static constexpr const char* kModes[] = {"update", "add", "sub", "mul",
                                           "div",    "max", "min"};
  const int64_t mode = c.parameters().Integer(field);
  if (!c.CheckRange("mode", mode, 0, 6)) return std::nullopt;
  return UpdateOf(c, kModes[mode], c.Input(2));
}

}  // namespace

void ImportScatter(LayerContext& c) {
  const int axis = c.Axis(c.parameters().Integer(1), c.Input(0).rank());
  const auto update = ReadUpdate(c, 2);
  if (update)
    c.SetOutput(0, ScatterSlices(c, c.Input(0), c.Input(1), *update, axis));
}

void ImportScatterAlongAxis(LayerContext& c) {
  const int axis = c.Axis(c.parameters().Integer(1), c.Input(0).rank());
  const auto update = ReadUpdate(c, 2);
  if (update)
    c.SetOutput(0, ScatterAlong(c.Input(0), c.Input(1), *update, axis));
}

void ImportGatherNd(LayerContext& c) {
  c.SetOutput(0, GatherTuples(c, c.Input(0), c.Input(1)));
}

void ImportScatterNd(LayerContext& c) {
  const auto update = ReadUpdate(c, 1);
  if (update) c.SetOutput(0, ScatterTuples(c, c.Input(0), c.Input(1), *update));
}

void ImportWhereNonZero(LayerContext& c) {
  if (c.CheckRank(0, 1))
    c.SetOutput(0, Cast(IndicesOfNonZero(c.Input(0)), DType::kF32));
}

void ImportReverseSequences(LayerContext& c) {
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, 1, 1)) return;
  const int rank = c.Input(0).rank();
  const int batch = c.Axis(c.parameters().Integer(1), rank);
  const int axis = c.Axis(c.parameters().Integer(2), rank);
  if (c.ok())
    c.SetOutput(0, ReverseSequences(c.Input(0), c.Input(1), batch, axis));
}

void ImportSlidingWindows(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const int axis = c.Axis(p.Integer(1), c.Input(0).rank());
  if (!c.ok()) return;
  c.SetOutput(0,
              SlidingWindows(c, c.Input(0), axis, p.Integer(2), p.Integer(3)));
}

void ImportOneHot(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor indices = c.Input(0);
  int64_t size = p.Integer(1);
  if (c.Input(1)) {
    const auto given = c.Constants(1);
    if (!given) return;
    size = given->size() == 1 ? given->front() : 0;
  }
  const int rank = indices.rank() + 1;
  const int axis = c.Axis(p.Integer(2), rank);
  if (!c.CheckRange("oneHotVectorSize", size)) return;
  const Tensor places = ops::AlongAxis(
      IotaVector(c.builder(), Dim(size), DType::kI64), axis, rank);
  c.SetOutput(
      0, Select(Equal(places, Unsqueeze(Cast(indices, DType::kI64), {axis})),
                c.Scalar(p.Float(3)), c.Scalar(p.Float(4))));
}

}  // namespace ember::coreml
