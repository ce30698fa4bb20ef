#include "frontends/ops/boxes.h"

#include <cmath>

#include "compiler/graph/builder/control_flow.h"
#include "frontends/ops/regions.h"

namespace ember::ops {

Tensor Part(Tensor x, int i) {
  return SliceAxis(x, x.rank() - 1, Dim(i), Dim(1));
}

Corners CornersOf(Tensor boxes) {
  return {Part(boxes, 0), Part(boxes, 1), Part(boxes, 2), Part(boxes, 3)};
}

Tensor Joined(const Corners& corners) {
  const int axis = corners.x1.rank() - 1;
  return Concat({corners.x1, corners.y1, corners.x2, corners.y2}, axis);
}

Tensor CornersOfCenters(Tensor boxes) {
  const int axis = boxes.rank() - 1;
  const Tensor center = SliceAxis(boxes, axis, Dim(0), Dim(2));
  const Tensor half = SliceAxis(boxes, axis, Dim(2), Dim(2)) * 0.5;
  return Concat({center - half, center + half}, axis);
}

Tensor CentersOfCorners(Tensor boxes) {
  const int axis = boxes.rank() - 1;
  const Tensor low = SliceAxis(boxes, axis, Dim(0), Dim(2));
  const Tensor high = SliceAxis(boxes, axis, Dim(2), Dim(2));
  return Concat({(low + high) * 0.5, high - low}, axis);
}

Tensor MovedBoxes(Tensor boxes, Tensor deltas, const BoxMoves& moves) {
  const Corners box = CornersOf(boxes), delta = CornersOf(deltas);
  // Coordinates along one axis of the first and of the last corner of boxes.
  struct Ends {
    Tensor first, last;
  };
  const auto moved = [&](Tensor low, Tensor high, Tensor shift,
                         Tensor growth) -> Ends {
    const Tensor size =
        moves.extra == 0 ? high - low : high - low + moves.extra;
    const Tensor center = shift * size + low + (size - moves.inner) * 0.5;
    if (std::isfinite(moves.most)) growth = Minimum(growth, moves.most);
    const Tensor half = (Exp(growth) * size - moves.inner) * 0.5;
    return {center - half, center + half - moves.end};
  };
  const Ends x = moved(box.x1, box.x2, delta.x1, delta.x2);
  const Ends y = moved(box.y1, box.y2, delta.y1, delta.y2);
  return Joined({x.first, y.first, x.last, y.last});
}

Tensor ClippedBoxes(Tensor boxes, Tensor height, Tensor width, double extra) {
  const Corners box = CornersOf(boxes);
  const auto inside = [&](Tensor value, Tensor extent) {
    return Maximum(Minimum(value, extent - extra), 0);
  };
  return Joined({inside(box.x1, width), inside(box.y1, height),
                 inside(box.x2, width), inside(box.y2, height)});
}

std::vector<float> RegionAnchors(int64_t base, const std::vector<float>& ratios,
                                 const std::vector<float>& scales) {
  std::vector<float> anchors;
  const double center = 0.5 * static_cast<double>(base - 1);
  const double area = static_cast<double>(base) * static_cast<double>(base);
  for (const float ratio : ratios) {
    const double width = std::nearbyint(std::sqrt(area / ratio));
    const double height = std::nearbyint(width * ratio);
    for (const float scale : scales) {
      const double x = 0.5 * (width * scale - 1);
      const double y = 0.5 * (height * scale - 1);
      for (const double corner :
           {center - x, center - y, center + x, center + y})
        anchors.push_back(static_cast<float>(corner));
    }
  }
  return anchors;
}

Tensor AnchorsOfCells(Tensor anchors, const Dim& rows, const Dim& columns,
                      double stride) {
  graph::GraphBuilder& builder = anchors.builder();
  const auto places = [&](const Dim& extent, int axis) {
    return Unsqueeze(
        AlongAxis(IotaVector(builder, extent, DType::kF32) * stride, axis, 3),
        {3});
  };
  const Tensor y = places(rows, 0), x = places(columns, 1);
  if (!builder.status().ok()) return anchors;
  const Dim count = anchors.dim(0);
  const Shape grid{rows, columns, count, Dim(1)};
  const Tensor shifts = Concat({Broadcast(x, grid), Broadcast(y, grid),
                                Broadcast(x, grid), Broadcast(y, grid)},
                               3);
  return Reshape(Unsqueeze(anchors, {0, 1}) + shifts,
                 {rows * columns * count, Dim(4)});
}

Tensor KeptBoxes(Tensor boxes, Tensor scores, Tensor overlap, Tensor least,
                 const Dim& most, double extra) {
  Tensor areas = Cast(boxes, DType::kF32);
  if (extra != 0) {
    const Corners box = CornersOf(areas);
    areas = Joined({box.x1, box.y1, box.x2 + extra, box.y2 + extra});
  }
  const Tensor kept = NonMaxSuppression(
      Unsqueeze(areas, {0}), Unsqueeze(Cast(scores, DType::kF32), {0, 1}),
      Cast(overlap, DType::kF32), Cast(least, DType::kF32), most);
  if (!boxes.builder().status().ok()) return boxes;
  return Column(kept, 2);
}

Tensor OverlapOf(Tensor a, Tensor b) {
  const Corners p = CornersOf(a), q = CornersOf(b);
  const auto shared = [](Tensor low_a, Tensor high_a, Tensor low_b,
                         Tensor high_b) {
    return Maximum(Minimum(high_a, high_b) - Maximum(low_a, low_b), 0);
  };
  const auto area = [](const Corners& box) {
    return Maximum(box.x2 - box.x1, 0) * Maximum(box.y2 - box.y1, 0);
  };
  const Tensor both =
      shared(p.x1, p.x2, q.x1, q.x2) * shared(p.y1, p.y2, q.y1, q.y2);
  const Tensor all = area(p) + area(q) - both;
  const Tensor share =
      Select(Less(0, both), both / Select(Less(0, all), all, all.Like(1)),
             both.Like(0));
  return Squeeze(share, {share.rank() - 1});
}

Tensor Unsuppressed(Tensor boxes, Tensor ids, Tensor valid, double overlap) {
  graph::GraphBuilder& builder = boxes.builder();
  if (!builder.status().ok()) return valid;
  graph::LoopRequest request{
      .carried = {valid.value()}, .scanned = {}, .trip = boxes.dim(1)};
  const std::vector<graph::Value*> results = graph::BuildLoop(
      builder, request,
      [&](graph::Region& region,
          const graph::LoopInputs& in) -> graph::LoopOutputs {
        graph::GraphBuilder& inside = region.builder();
        const auto captured = [&](Tensor outer) {
          return Tensor(&inside, region.Capture(outer.value()));
        };
        const Tensor iteration(&inside, in.iteration),
            stay(&inside, in.carried[0]);
        const Tensor all = captured(boxes);
        const auto here = [&](Tensor x) {
          return Gather(x, Unsqueeze(iteration, {0}), 1);
        };
        Tensor covered = Less(overlap, OverlapOf(here(all), all));
        if (ids) {
          const Tensor own = captured(ids);
          covered = And(covered, Equal(here(own), own));
        }
        const Tensor later =
            Less(iteration, IotaVector(inside, boxes.dim(1), DType::kI64));
        covered = And(And(covered, Unsqueeze(later, {0})), here(stay));
        return {.proceed = nullptr,
                .carried = {And(stay, Not(covered)).value()},
                .stacked = {}};
      });
  if (results.empty()) return valid;
  return {&builder, results[0]};
}

}  // namespace ember::ops
