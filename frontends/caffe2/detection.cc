// Detectron's operators (Faster R-CNN, FPN, Mask R-CNN): proposals, boxes and
// pooling of regions. The number of results depends on the data.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "frontends/caffe2/operator_table.h"
#include "frontends/ops/boxes.h"
#include "frontends/ops/regions.h"
#include "frontends/ops/roi_align.h"

namespace ember::caffe2 {
namespace {

using ops::Column;

// Largest number of images. Their boxes are imported one image after the other.
constexpr int64_t kMaxImages = 256;
// Logarithm of the largest factor (1000 / 16) by which a box delta may enlarge
// a box, as in Detectron.
const double kMaxGrowth = std::log(1000.0 / 16);

// Returns 1 if boxes include their last pixel, else 0.
double ExtraOf(OperatorContext& c) {
  return c.Flag("legacy_plus_one", true) ? 1 : 0;
}

bool CheckUpright(OperatorContext& c) {
  if (!c.Flag("rotated", false)) return true;
  c.FailUnsupported("rotated: expected 0");
  return false;
}

ops::BoxMoves MovesOf(OperatorContext& c) {
  const double extra = ExtraOf(c);
  // In older nets correct_transform_coords says if the second corner of a box
  // is its last pixel, not one after it.
  const bool corrects = c.Flag("correct_transform_coords", extra != 0);
  return {.extra = extra,
          .inner = 0,
          .end = corrects ? 1.0 : 0.0,
          .most = kMaxGrowth};
}

// Returns false, with an error, unless the input is a matrix with `width` or
// `width` + 1 columns.
bool CheckRows(OperatorContext& c, int input, int64_t width) {
  if (!c.CheckRank(input, 2, 2)) return false;
  const Dim columns = c.Input(input).dim(1);
  if (columns == Dim(width) || columns == Dim(width + 1)) return true;
  c.FailInvalid("input " + std::to_string(input) + ": expected rows of " +
                std::to_string(width) + " numbers, found " +
                graph::ShapeToString(c.Input(input).shape()));
  return false;
}

// Regions as two tensors: the index of each region's image, and its corners.
// The operand's rows have five numbers (image, corners), or four (corners) if
// all regions belong to image 0.
struct Regions {
  Tensor images, corners;
};
Regions RegionsOf(OperatorContext& c, const Tensor& rows) {
  if (rows.dim(1) == Dim(4))
    return {Broadcast(c.Scalar(0), {rows.dim(0)}), rows};
  return {Column(rows, 0), SliceAxis(rows, 1, Dim(1), Dim(4))};
}

// Returns the rows with the best scores [n], best first, at most `most`.
Tensor BestRows(OperatorContext& c, const Tensor& rows, const Tensor& scores,
                int64_t most) {
  if (!c.ok()) return rows;
  const std::vector<Tensor> sorted =
      ApplyAll("top_k", {scores},
               {{"axis", int64_t{0}},
                {"k", Shape{SmallerOf(scores.dim(0), Dim(most))}},
                {"largest", int64_t{1}}});
  return c.ok() ? Gather(rows, sorted[1], 0) : rows;
}

// Sorts integers [n] in ascending order: returns the sorted integers, and the
// original index of each.
std::vector<Tensor> Ascending(OperatorContext& c, const Tensor& numbers) {
  if (!c.ok()) return {numbers, numbers};
  return ApplyAll("top_k", {numbers},
                  {{"axis", int64_t{0}},
                   {"k", Shape{numbers.dim(0)}},
                   {"largest", int64_t{0}}});
}

// Returns the best regions of all levels. The inputs are the regions of all
// levels, then their scores.
Tensor Collected(OperatorContext& c) {
  const int levels = c.input_count() / 2;
  const int64_t most = c.Integer(
      c.Has("rpn_post_nms_topN") ? "rpn_post_nms_topN" : "post_nms_topN", 2000);
  if (c.input_count() % 2 != 0) {
    c.FailInvalid("expected regions and scores of as many levels, found " +
                  std::to_string(c.input_count()) + " inputs");
    return c.Input(0);
  }
  if (!c.CheckPositive("rpn_post_nms_topN", most)) return c.Input(0);
  std::vector<Tensor> regions, scores;
  for (int i = 0; i < levels; ++i) {
    if (!c.CheckRank(i, 2, 2)) return c.Input(0);
    const Tensor own = c.Input(levels + i);
    if (!c.ImportContext::CheckRank(own, "scores", 1, 2)) return c.Input(0);
    regions.push_back(c.Input(i));
    scores.push_back(Reshape(own, {c.Input(i).dim(0)}));
  }
  return BestRows(c, Concat(regions, 0), Concat(scores, 0), most);
}

// Distributes regions [n, 5] to the levels of a pyramid by their size (Lin et
// al. 2017, "Feature Pyramid Networks", equation 1). The last result is the
// index of each region in the concatenation of the levels. `output`: number of
// the operator's output that gets the first level.
void Distribute(OperatorContext& c, const Tensor& regions, int output) {
  const int64_t first = c.Integer("roi_min_level", 2);
  const int64_t last = c.Integer("roi_max_level", 5);
  const double scale = c.Number("roi_canonical_scale", 224);
  const auto level = static_cast<double>(c.Integer("roi_canonical_level", 4));
  if (!c.CheckRange("roi_min_level", first, 0, 64) ||
      !c.CheckRange("roi_max_level", last, first, 64))
    return;
  if (regions.dim(1) != Dim(5)) {
    return c.FailInvalid("expected regions of 5 numbers, found " +
                         graph::ShapeToString(regions.shape()));
  }
  const double extra = ExtraOf(c);
  const Tensor w = Column(regions, 3) - Column(regions, 1) + extra;
  const Tensor h = Column(regions, 4) - Column(regions, 2) + extra;
  const Tensor own = Minimum(
      Maximum(Floor(Log(Sqrt(w * h) / scale + 1e-6) / std::log(2.0) + level),
              static_cast<double>(first)),
      static_cast<double>(last));
  std::vector<Tensor> places;
  for (int64_t i = first; i <= last; ++i) {
    if (!c.ok()) return;
    places.push_back(Apply("non_zero", {Equal(own, static_cast<double>(i))},
                           {{"defines", Shape{c.builder().FreshSymbol()}}}));
    c.SetOutput(output++, Gather(regions, places.back(), 0));
  }
  const std::vector<Tensor> restored = Ascending(c, Concat(places, 0));
  if (c.ok()) c.SetOutput(output, Cast(restored[1], DType::kI32));
}

}  // namespace

void ImportBatchPermutation(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1, 1)) return;
  c.SetOutput(Gather(c.Input(0), Cast(c.Input(1), DType::kI64), 0));
}

// Imports BBoxTransform. Operands: regions [m, 4 or 5], box deltas [m, 4 *
// classes], and the (height, width, scale) of each image [n, 3]. Results: boxes
// [m, 4 * classes], and the number of regions of each image.
void ImportBBoxTransform(OperatorContext& c) {
  if (!CheckRows(c, 0, 4) || !c.CheckRank(1, 2, 2) || !c.CheckRank(2, 2, 2) ||
      !CheckUpright(c))
    return;
  std::vector<float> weights;
  if (const Argument* given = FindArgument(c.op(), "weights"))
    weights.assign(given->floats().begin(), given->floats().end());
  if (weights.empty()) weights = {1, 1, 1, 1};
  const auto width = c.Extent(c.Input(1), 1);
  if (!width) return;
  if (weights.size() != 4 || *width % 4 != 0 ||
      std::count(weights.begin(), weights.end(), 0.0f) > 0) {
    return c.FailInvalid(
        "expected four weights that are not 0, and changes of four numbers "
        "each, found " +
        std::to_string(weights.size()) + " and " +
        graph::ShapeToString(c.Input(1).shape()));
  }
  for (float& weight : weights) weight = 1 / weight;
  const Dim count = c.Input(0).dim(0), classes(*width / 4);
  const Regions regions = RegionsOf(c, c.Input(0));
  // The (height, width, scale) of each region's image. `info` returns one of
  // the columns as [m, 1, 1].
  const Tensor infos = Gather(c.Input(2), Cast(regions.images, DType::kI64), 0);
  const auto info = [&](int i) { return Unsqueeze(Column(infos, i), {1, 2}); };
  const Tensor scale = info(2);
  const auto pixels = [&](int i) { return Floor(info(i) / scale + 0.5); };
  const Tensor moved =
      ops::MovedBoxes(Unsqueeze(regions.corners, {1}) / scale,
                      Reshape(c.Input(1), {count, classes, Dim(4)}) *
                          c.Vector(DType::kF32, weights),
                      MovesOf(c));
  Tensor boxes = ops::ClippedBoxes(moved, pixels(0), pixels(1), ExtraOf(c));
  if (c.Flag("apply_scale", true)) boxes = boxes * scale;
  c.SetOutput(0, Reshape(boxes, {count, Dim(*width)}));
  const Tensor image = IotaVector(c.builder(), c.Input(2).dim(0), DType::kF32);
  c.SetOutput(
      1,
      Reduce(Cast(Equal(Unsqueeze(regions.images, {0}), Unsqueeze(image, {1})),
                  DType::kF32),
             "sum", {1}, /*keep=*/false));
}

// Imports GenerateProposals. Operands: scores [n, A, h, w], box deltas [n, 4A,
// h, w], the (height, width, scale) of each image [n, 3], and anchors [A, 4].
// Results: regions [k, 5], and their scores.
void ImportGenerateProposals(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 4, 4) || !c.CheckRank(2, 2, 2) ||
      !c.CheckRank(3, 2, 2))
    return;
  const auto extents = c.Extents(c.Input(0), 0, 4);
  if (!extents) return;
  const int64_t images = (*extents)[0], anchors = (*extents)[1],
                rows = (*extents)[2], columns = (*extents)[3];
  const double stride = 1 / c.Number("spatial_scale", 1.0 / 16);
  const double overlap = c.Number("nms_thresh", 0.7);
  const double least = c.Number("min_size", 16);
  int64_t before = c.Integer("pre_nms_topN", 6000);
  int64_t after = c.Integer("post_nms_topN", 300);
  if (!c.ok() || !c.CheckRange("images", images, 1, kMaxImages)) return;
  const Shape changes_shape{Dim(images), Dim(4 * anchors), Dim(rows),
                            Dim(columns)};
  if (!std::isfinite(stride) || anchors < 1 || rows < 1 || columns < 1 ||
      c.Input(1).shape() != changes_shape ||
      c.Input(2).shape() != Shape{Dim(images), Dim(3)} ||
      c.Input(3).shape() != Shape{Dim(anchors), Dim(4)}) {
    return c.FailInvalid(
        "expected scores [n, a, h, w], changes [n, 4 * a, h, w], images [n, 3] "
        "and anchors [a, 4], found " +
        graph::ShapeToString(c.Input(0).shape()) + ", " +
        graph::ShapeToString(c.Input(1).shape()) + ", " +
        graph::ShapeToString(c.Input(2).shape()) + " and " +
        graph::ShapeToString(c.Input(3).shape()));
  }
  const int64_t total = rows * columns * anchors;
  before = before > 0 ? std::min(before, total) : total;
  after = after > 0 ? std::min(after, before) : before;
  const double extra = ExtraOf(c);
  const ops::BoxMoves moves = MovesOf(c);
  const Tensor at_cells =
      ops::AnchorsOfCells(c.Input(3), Dim(rows), Dim(columns), stride);
  const double none = std::numeric_limits<float>::lowest();
  std::vector<Tensor> regions, scores;
  for (int64_t image = 0; image < images; ++image) {
    // Reshapes [A * k, h, w] of one image to a row per box, [h * w * A, k]: A
    // boxes at each position, of k numbers each.
    const auto per_anchor = [&](const Tensor& x, int64_t width) {
      return Reshape(Transpose(Reshape(SliceAxis(x, 0, Dim(image), Dim(1)),
                                       {Dim(anchors), Dim(width), Dim(rows),
                                        Dim(columns)}),
                               {2, 3, 0, 1}),
                     {Dim(total), Dim(width)});
    };
    const auto number = [&](int64_t i) {
      return Reshape(SliceAxis(SliceAxis(Cast(c.Input(2), DType::kF32), 0,
                                         Dim(image), Dim(1)),
                               1, Dim(i), Dim(1)),
                     {});
    };
    const Tensor height = number(0), width = number(1);
    const std::vector<Tensor> best =
        ApplyAll("top_k", {Squeeze(per_anchor(c.Input(0), 1), {1})},
                 {{"axis", int64_t{0}},
                  {"k", Shape{Dim(before)}},
                  {"largest", int64_t{1}}});
    if (!c.ok()) return;
    const Tensor boxes = ops::ClippedBoxes(
        ops::MovedBoxes(Gather(at_cells, best[1], 0),
                        Gather(per_anchor(c.Input(1), 4), best[1], 0), moves),
        height, width, extra);
    // Boxes that are too small, or centered outside of the image, are dropped.
    const ops::Corners box = ops::CornersOf(boxes);
    const Tensor w = box.x2 - box.x1 + extra, h = box.y2 - box.y1 + extra;
    const Tensor smallest = number(2) * least;
    const Tensor valid =
        And(And(LessEqual(smallest, w), LessEqual(smallest, h)),
            And(Less(box.x1 + w * 0.5, width), Less(box.y1 + h * 0.5, height)));
    const Tensor ranked =
        Select(Squeeze(valid, {1}), best[0], best[0].Like(none));
    const Tensor kept = ops::KeptBoxes(boxes, ranked, c.Scalar(overlap),
                                       c.Scalar(none), Dim(after), extra);
    if (!c.ok()) return;
    const Tensor chosen = Gather(boxes, kept, 0);
    if (!c.ok()) return;
    regions.push_back(Concat({Broadcast(c.Scalar(static_cast<double>(image)),
                                        {chosen.dim(0), Dim(1)}),
                              chosen},
                             1));
    scores.push_back(Gather(best[0], kept, 0));
  }
  c.SetOutput(0, Concat(regions, 0));
  c.SetOutput(1, Concat(scores, 0));
}

namespace {

struct LimitOptions {
  // Number of classes including the background: the operand of scores has a
  // column for each.
  int64_t classes = 0;
  double least = 0, overlap = 0;
  // Largest number of detections per image; 0 means no limit.
  int64_t most = 0;
  bool agnostic = false, boxes_of_background = true, counts_background = true;
  double extra = 0;

  // Number of leading background classes. The background is the first class of
  // boxes and scores; if boxes lack it, it is the last class of the scores.
  int64_t skipped() const { return boxes_of_background ? 1 : 0; }
  // Number of boxes (of four numbers each) in a row of the operand of boxes.
  int64_t given() const { return (agnostic ? 1 : classes - 1) + skipped(); }
};

std::optional<LimitOptions> ReadLimits(OperatorContext& c) {
  const auto classes = c.Extent(c.Input(0), 1);
  if (!classes || !c.CheckRange("classes", *classes, 2)) return std::nullopt;
  LimitOptions o;
  o.classes = *classes;
  o.least = c.Number("score_thresh", 0.05);
  o.overlap = c.Number("nms", 0.3);
  o.most = std::max<int64_t>(c.Integer("detections_per_im", 100), 0);
  o.agnostic = c.Flag("cls_agnostic_bbox_reg", false);
  o.boxes_of_background = c.Flag("input_boxes_include_bg_cls", true);
  o.counts_background = c.Flag("output_classes_include_bg_cls", true);
  o.extra = ExtraOf(c);
  const Shape expected{c.Input(0).dim(0), Dim(o.given() * 4)};
  if (c.Input(1).shape() != expected) {
    c.FailInvalid("boxes (input 1): expected " +
                  graph::ShapeToString(expected) + ", found " +
                  graph::ShapeToString(c.Input(1).shape()));
    return std::nullopt;
  }
  return c.ok() ? std::optional<LimitOptions>(o) : std::nullopt;
}

// The detections that remain in one image after suppression, grouped by class,
// the best of a class first. Below, k is their number.
struct Detections {
  Tensor scores, boxes, labels;  // scores [k], corners [k, 4] and classes [k]
  Tensor count;                  // [1]
  // [k]: row of each detection among the image's rows of the operands.
  Tensor rows;
  // [classes]: number of detections of each class.
  Tensor sizes;
};

// Selects the detections to keep from the image's scores [m, classes] and boxes
// [m, 4 * given]; nullopt after an error.
std::optional<Detections> Limited(OperatorContext& c, const LimitOptions& o,
                                  const Tensor& all_scores,
                                  const Tensor& all_boxes) {
  const Dim count = all_scores.dim(0);
  const int64_t skipped = o.skipped(), given = o.given();
  const int64_t classes = o.classes - 1;
  // Transposes scores and boxes so that the class is the first dim: [classes,
  // m] and [classes, m, 4].
  const Tensor scores =
      Transpose(SliceAxis(all_scores, 1, Dim(skipped), Dim(classes)), {1, 0});
  const Tensor all =
      Transpose(Reshape(all_boxes, {count, Dim(given), Dim(4)}), {1, 0, 2});
  const Tensor boxes =
      Broadcast(SliceAxis(all, 0, Dim(skipped), Dim(given - skipped)),
                {Dim(classes), count, Dim(4)});
  const ops::Corners box = ops::CornersOf(boxes);
  const Tensor areas =
      o.extra == 0
          ? boxes
          : ops::Joined({box.x1, box.y1, box.x2 + o.extra, box.y2 + o.extra});
  Tensor kept = ops::NonMaxSuppression(areas, Unsqueeze(scores, {1}),
                                       c.Scalar(o.overlap), c.Scalar(o.least),
                                       o.most > 0 ? Dim(o.most) : count);
  if (!c.ok()) return std::nullopt;
  const Tensor flat_scores = Reshape(scores, {Dim(classes) * count});
  const auto places = [&] {
    return Column(kept, 0) * ops::DimScalar(c.builder(), count) +
           Column(kept, 2);
  };
  if (o.most > 0) {
    // Keeps the best detections of all classes together, at most the limit per
    // image, without changing their order.
    const Tensor number = IotaVector(c.builder(), kept.dim(0), DType::kI64);
    const Tensor chosen =
        BestRows(c, number, Gather(flat_scores, places(), 0), o.most);
    const std::vector<Tensor> ordered = Ascending(c, chosen);
    if (!c.ok()) return std::nullopt;
    kept = Gather(kept, ordered[0], 0);
  }
  if (!c.ok()) return std::nullopt;
  const Tensor label = Column(kept, 0);
  const Tensor number =
      IotaVector(c.builder(), Dim(o.classes), DType::kI64) - 1.0;
  return Detections{
      .scores = Gather(flat_scores, places(), 0),
      .boxes =
          Gather(Reshape(boxes, {Dim(classes) * count, Dim(4)}), places(), 0),
      .labels = Cast(label, DType::kF32) + (o.counts_background ? 1.0 : 0.0),
      .count =
          Reshape(Cast(ops::DimScalar(c.builder(), kept.dim(0)), DType::kF32),
                  {Dim(1)}),
      .rows = Cast(Column(kept, 2), DType::kI32),
      .sizes = Reduce(Cast(Equal(Unsqueeze(number, {1}), Unsqueeze(label, {0})),
                           DType::kI32),
                      "sum", {1}, /*keep=*/false)};
}

}  // namespace

// Imports BoxWithNMSLimit. Operands: scores [m, classes], boxes [m, 4 *
// classes], number of rows of each image. The results describe the k boxes that
// remain after suppression, without the background, ordered by image, then
// class, then best score: scores [k], boxes [k, 4], classes [k], number of
// detections in each image, their rows in the image, and each image's number of
// detections of each class.
void ImportBoxWithNmsLimit(OperatorContext& c) {
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(1, 2, 2) || !CheckUpright(c))
    return;
  if (c.Flag("soft_nms_enabled", false))
    return c.FailUnsupported("soft_nms_enabled: expected 0");
  int64_t images = 1;
  if (c.input_count() > 2) {
    if (!c.CheckRank(2, 1, 1)) return;
    const auto given = c.Extent(c.Input(2), 0);
    if (!given || !c.CheckRange("images (input 2)", *given, 1, kMaxImages))
      return;
    images = *given;
  }
  const auto limits = ReadLimits(c);
  if (!limits) return;
  std::vector<std::vector<Tensor>> results(6);
  // Index of the first row of the current image in the operands.
  Tensor begin = c.Scalar(0);
  for (int64_t image = 0; image < images; ++image) {
    Tensor scores = c.Input(0), boxes = c.Input(1);
    if (images > 1) {
      const Tensor end =
          begin + Reshape(SliceAxis(Cast(c.Input(2), DType::kF32), 0,
                                    Dim(image), Dim(1)),
                          {});
      const Tensor row = IotaVector(c.builder(), scores.dim(0), DType::kF32);
      if (!c.ok()) return;
      const Tensor own =
          Apply("non_zero", {And(LessEqual(begin, row), Less(row, end))},
                {{"defines", Shape{c.builder().FreshSymbol()}}});
      scores = Gather(scores, own, 0);
      boxes = Gather(boxes, own, 0);
      begin = end;
    }
    const auto found = Limited(c, *limits, scores, boxes);
    if (!found) return;
    const Tensor parts[] = {found->scores, found->boxes, found->labels,
                            found->count,  found->rows,  found->sizes};
    for (size_t i = 0; i < results.size(); ++i) results[i].push_back(parts[i]);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor joined =
        images == 1 ? results[i].front() : Concat(results[i], 0);
    // The result with the number of detections per class has one row for each
    // image.
    c.SetOutput(static_cast<int>(i),
                i == 5 && images > 1
                    ? Reshape(joined, {Dim(images), Dim(limits->classes)})
                    : joined);
  }
}

void ImportCollectProposals(OperatorContext& c) { c.SetOutput(Collected(c)); }

void ImportDistributeProposals(OperatorContext& c) {
  if (c.CheckRank(0, 2, 2)) Distribute(c, c.Input(0), 0);
}

void ImportCollectAndDistribute(OperatorContext& c) {
  const Tensor regions = Collected(c);
  if (!c.ok()) return;
  c.SetOutput(0, regions);
  Distribute(c, regions, 1);
}

void ImportRoiAlign(OperatorContext& c) {
  const int64_t h = c.Integer("pooled_h", 1), w = c.Integer("pooled_w", 1);
  ops::RoiAlignSpec spec;
  spec.scale = c.Number("spatial_scale", 1);
  spec.samples = std::max<int64_t>(c.Integer("sampling_ratio", -1), 0);
  spec.half_pixel = c.Flag("aligned", false);
  if (!c.CheckRank(0, 4, 4) || !CheckRows(c, 1, 4) ||
      !c.CheckPositive("pooled_h", h) || !c.CheckPositive("pooled_w", w) ||
      !c.CheckRange("sampling_ratio", spec.samples, 0, 4096))
    return;
  spec.bins = {h, w};
  const bool last = c.ChannelsLast();
  const Tensor x = last ? Transpose(c.Input(0), {0, 3, 1, 2}) : c.Input(0);
  const Regions regions = RegionsOf(c, c.Input(1));
  const Tensor y = ops::RoiAlign(x, regions.corners,
                                 Cast(regions.images, DType::kI64), spec);
  c.SetOutput(last ? Transpose(y, {0, 2, 3, 1}) : y);
}

void ImportPsRoiPool(OperatorContext& c) {
  ops::PositionSensitiveSpec spec;
  spec.channels = c.Integer("output_dim", 0);
  spec.bins = c.Integer("group_size", 0);
  spec.scale = c.Number("spatial_scale", 1);
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 2, 2) ||
      !c.CheckPositive("output_dim", spec.channels) ||
      !c.CheckRange("group_size", spec.bins, 1, 1024))
    return;
  if (c.ChannelsLast()) return c.FailUnsupported("order: expected NCHW");
  if (c.Input(0).dim(1) != Dim(spec.channels) * Dim(spec.bins * spec.bins) ||
      c.Input(1).dim(1) != Dim(5)) {
    return c.FailInvalid(
        "expected output_dim * group_size * group_size channels and regions of "
        "5 numbers, found " +
        graph::ShapeToString(c.Input(0).shape()) + " and " +
        graph::ShapeToString(c.Input(1).shape()));
  }
  c.SetOutput(ops::PositionSensitivePool(c.Input(0), c.Input(1), spec));
}

}  // namespace ember::caffe2
