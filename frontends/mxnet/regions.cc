// Imports operators on regions of two-stage detectors: proposals, and pooling
// of regions.
#include "frontends/ops/regions.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "frontends/mxnet/operator_table.h"
#include "frontends/ops/boxes.h"
#include "frontends/ops/roi_align.h"

namespace ember::mxnet {
namespace {

// Checks the operands of a pooling of regions: input 0 is a feature map [N, C,
// h, w], and input 1 the regions [R, 5]. Returns false after an error.
bool CheckRegions(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 2, 2)) return false;
  if (c.Input(1).dim(1) == Dim(5)) return true;
  c.FailInvalid("input 1: expected regions of 5 numbers, found " +
                graph::ShapeToString(c.Input(1).shape()));
  return false;
}

// Returns y for regions that belong to an image, and 0 for the others. A region
// with a negative image number belongs to no image.
Tensor OfImages(const Tensor& images, const Tensor& y) {
  return Select(AlongAxis(LessEqual(0, images), 0, y.rank()), y, y.Like(0));
}

// Returns the regions with negative image numbers replaced by 0.
Tensor WithImages(const Tensor& regions) {
  return Concat({Maximum(SliceAxis(regions, 1, Dim(0), Dim(1)), 0),
                 SliceAxis(regions, 1, Dim(1), Dim(4))},
                1);
}

std::vector<float> FloatsOf(const std::vector<double>& numbers,
                            std::vector<float> otherwise) {
  if (numbers.empty()) return otherwise;
  return {numbers.begin(), numbers.end()};
}

}  // namespace

void ImportRoiPooling(NodeContext& c) {
  const std::vector<int64_t> bins = c.Integers("pooled_size", 2, 0);
  const double scale = c.Number("spatial_scale", 1);
  if (!CheckRegions(c) || !c.CheckPositive("pooled_size", bins[0]) ||
      !c.CheckPositive("pooled_size", bins[1]))
    return;
  const Tensor x = Cast(c.Input(0), DType::kF32);
  const Tensor regions = Cast(c.Input(1), DType::kF32);
  const Tensor y = ops::MaxRoiPool(
      x, WithImages(regions), {.bins = {bins[0], bins[1]}, .scale = scale});
  c.SetOutput(Cast(OfImages(ops::Column(regions, 0), y), c.Input(0).dtype()));
}

void ImportRoiAlign(NodeContext& c) {
  const std::vector<int64_t> bins = c.Integers("pooled_size", 2, 0);
  ops::RoiAlignSpec spec;
  spec.scale = c.Number("spatial_scale", 1);
  spec.samples = std::max<int64_t>(c.Integer("sample_ratio", -1), 0);
  spec.half_pixel = c.Flag("aligned", false);
  if (!CheckRegions(c) || !c.CheckPositive("pooled_size", bins[0]) ||
      !c.CheckPositive("pooled_size", bins[1]) ||
      !c.CheckRange("sample_ratio", spec.samples, 0, 4096))
    return;
  if (c.Flag("position_sensitive", false))
    return c.FailUnsupported("position_sensitive: expected False");
  spec.bins = {bins[0], bins[1]};
  const Tensor x = Cast(c.Input(0), DType::kF32);
  const Tensor regions = Cast(c.Input(1), DType::kF32);
  const Tensor images = ops::Column(regions, 0);
  const Tensor y = ops::RoiAlign(x, SliceAxis(regions, 1, Dim(1), Dim(4)),
                                 Cast(Maximum(images, 0), DType::kI64), spec);
  c.SetOutput(Cast(OfImages(images, y), c.Input(0).dtype()));
}

void ImportPsRoiPooling(NodeContext& c) {
  ops::PositionSensitiveSpec spec;
  spec.channels = c.Integer("output_dim", 0);
  spec.bins = c.Integer("pooled_size", 0);
  spec.scale = c.Number("spatial_scale", 1);
  const int64_t groups = c.Integer("group_size", 0);
  if (!CheckRegions(c) || !c.CheckPositive("output_dim", spec.channels) ||
      !c.CheckRange("pooled_size", spec.bins, 1, 1024))
    return;
  if (groups != 0 && groups != spec.bins)
    return c.FailUnsupported(
        "group_size: expected that of pooled_size, found " +
        std::to_string(groups));
  if (c.Input(0).dim(1) != Dim(spec.channels) * Dim(spec.bins * spec.bins)) {
    return c.FailInvalid(
        "expected output_dim * pooled_size * pooled_size channels, found " +
        graph::ShapeToString(c.Input(0).shape()));
  }
  c.SetOutput(
      Cast(ops::PositionSensitivePool(Cast(c.Input(0), DType::kF32),
                                      Cast(c.Input(1), DType::kF32), spec),
           c.Input(0).dtype()));
}

// Imports Proposal. Operands: scores [n, 2A, h, w], box deltas [n, 4A, h, w],
// and the (height, width, scale) of each image [n, 3]. Results: `post` regions
// per image [n * post, 5], and their scores. If fewer regions are found, they
// repeat from the first.
void ImportRegionProposal(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 4, 4) || !c.CheckRank(2, 2, 2))
    return;
  const std::vector<float> scales =
      FloatsOf(c.Numbers("scales"), {4, 8, 16, 32});
  const std::vector<float> ratios = FloatsOf(c.Numbers("ratios"), {0.5, 1, 2});
  const int64_t stride = c.Integer("feature_stride", 16);
  int64_t before = c.Integer("rpn_pre_nms_top_n", 6000);
  const int64_t wanted = c.Integer("rpn_post_nms_top_n", 300);
  const double overlap = c.Number("threshold", 0.7);
  const double least = c.Number("rpn_min_size", 16);
  const auto extents = c.Extents(c.Input(0), 0, 4);
  if (!extents || !c.ok() || !c.CheckPositive("feature_stride", stride) ||
      !c.CheckPositive("rpn_post_nms_top_n", wanted))
    return;
  if (c.Flag("iou_loss", false))
    return c.FailUnsupported("iou_loss: expected False");
  constexpr size_t kMaxAnchors = 1024;
  if (ratios.size() > kMaxAnchors || scales.size() > kMaxAnchors)
    return c.FailInvalid("expected at most 1024 ratios and scales");
  const auto anchors = static_cast<int64_t>(ratios.size() * scales.size());
  const int64_t images = (*extents)[0], rows = (*extents)[2],
                columns = (*extents)[3];
  const Shape changes_shape{Dim(images), Dim(4 * anchors), Dim(rows),
                            Dim(columns)};
  constexpr int64_t kMaxImages = 256;
  if (!c.CheckRange("images", images, 1, kMaxImages)) return;
  if ((*extents)[1] != 2 * anchors || c.Input(1).shape() != changes_shape ||
      c.Input(2).shape() != Shape{Dim(images), Dim(3)}) {
    return c.FailInvalid("expected scores [n, " + std::to_string(2 * anchors) +
                         ", h, w], changes [n, " + std::to_string(4 * anchors) +
                         ", h, w] and images [n, 3] for " +
                         std::to_string(anchors) + " anchors, found " +
                         graph::ShapeToString(c.Input(0).shape()) + ", " +
                         graph::ShapeToString(c.Input(1).shape()) + " and " +
                         graph::ShapeToString(c.Input(2).shape()));
  }
  const int64_t total = rows * columns * anchors;
  if (total < 1) return c.FailInvalid("expected cells, found none");
  before = before > 0 ? std::min(before, total) : total;
  const int64_t after = std::min(wanted, before);
  const Tensor at_cells = ops::AnchorsOfCells(
      Reshape(c.Vector(DType::kF32, ops::RegionAnchors(stride, ratios, scales)),
              {Dim(anchors), Dim(4)}),
      Dim(rows), Dim(columns), static_cast<double>(stride));
  // Reshapes [A * k, h, w] of one image to a row per box, [h * w * A, k]: A
  // boxes at each position, of k numbers each.
  const auto per_anchor = [&](const Tensor& x, int64_t image, int64_t first,
                              int64_t width) {
    const Tensor own = SliceAxis(SliceAxis(x, 0, Dim(image), Dim(1)), 1,
                                 Dim(first), Dim(anchors * width));
    return Reshape(Transpose(Reshape(own, {Dim(anchors), Dim(width), Dim(rows),
                                           Dim(columns)}),
                             {2, 3, 0, 1}),
                   {Dim(total), Dim(width)});
  };
  const Tensor scores = Cast(c.Input(0), DType::kF32);
  const Tensor changes = Cast(c.Input(1), DType::kF32);
  const Tensor infos = Cast(c.Input(2), DType::kF32);
  std::vector<Tensor> found_regions, found_scores;
  for (int64_t image = 0; image < images; ++image) {
    const auto number = [&](int64_t i) {
      return Reshape(
          SliceAxis(SliceAxis(infos, 0, Dim(image), Dim(1)), 1, Dim(i), Dim(1)),
          {});
    };
    const Tensor height = number(0), width = number(1), scale = number(2);
    const Tensor boxes = ops::ClippedBoxes(
        ops::MovedBoxes(at_cells, per_anchor(changes, image, 0, 4),
                        {.extra = 1, .inner = 1}),
        height, width, 1);
    // Boxes of cells outside of the image, and boxes that are too small, get
    // score -1 and so come last. Boxes that are too small are also grown,
    // because the reference implementation does so.
    const auto cell = [&](int64_t extent, int axis) {
      const Tensor line = ops::AlongAxis(
          IotaVector(c.builder(), Dim(extent), DType::kF32), axis, 3);
      return Reshape(Broadcast(line, {Dim(rows), Dim(columns), Dim(anchors)}),
                     {Dim(total), Dim(1)});
    };
    const auto cells = [&](const Tensor& extent) {
      return Floor(Floor(extent) / static_cast<double>(stride));
    };
    const Tensor inside = And(Less(cell(rows, 0), cells(height)),
                              Less(cell(columns, 1), cells(width)));
    const ops::Corners box = ops::CornersOf(boxes);
    const Tensor smallest = scale * least;
    const Tensor small = Or(Less(box.x2 - box.x1 + 1.0, smallest),
                            Less(box.y2 - box.y1 + 1.0, smallest));
    const Tensor half = smallest * 0.5;
    const Tensor grown = ops::Joined(
        {box.x1 - half, box.y1 - half, box.x2 + half, box.y2 + half});
    const Tensor own = per_anchor(scores, image, anchors, 1);
    const Tensor ranked =
        Squeeze(Select(And(inside, Not(small)), own, own.Like(-1)), {1});
    const std::vector<Tensor> best = ApplyAll("top_k", {ranked},
                                              {{"axis", int64_t{0}},
                                               {"k", Shape{Dim(before)}},
                                               {"largest", int64_t{1}}});
    if (!c.ok()) return;
    const Tensor candidates = Gather(Select(small, grown, boxes), best[1], 0);
    const Tensor kept = ops::KeptBoxes(
        candidates, best[0], c.Scalar(overlap),
        c.Scalar(std::numeric_limits<float>::lowest()), Dim(after), 1);
    if (!c.ok()) return;
    const Tensor count = ops::DimScalar(c.builder(), kept.dim(0));
    const Tensor places = Gather(
        kept, Modulo(IotaVector(c.builder(), Dim(wanted), DType::kI64), count),
        0);
    const Tensor chosen = Gather(candidates, places, 0);
    found_regions.push_back(Concat(
        {Broadcast(c.Scalar(static_cast<double>(image)), {Dim(wanted), Dim(1)}),
         chosen},
        1));
    found_scores.push_back(Unsqueeze(Gather(best[0], places, 0), {1}));
  }
  c.SetOutput(0, Cast(Concat(found_regions, 0), c.Input(0).dtype()));
  c.SetOutput(1, Cast(Concat(found_scores, 0), c.Input(0).dtype()));
}

}  // namespace ember::mxnet
