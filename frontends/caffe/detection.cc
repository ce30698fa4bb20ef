// Detectors: SSD (Liu et al. 2016), Faster R-CNN (Ren et al. 2015) and R-FCN
// (Dai et al. 2016). Boxes of SSD are fractions of the image. Boxes of the
// others are in pixels, and include their last pixel.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "frontends/caffe/layer_table.h"
#include "frontends/ops/boxes.h"
#include "frontends/ops/regions.h"
#include "frontends/ops/roi_align.h"

namespace ember::caffe {
namespace {

using ops::Column;
using ops::Corners;
using ops::CornersOf;
using ops::Joined;
using ops::Part;

// Largest number of elements of a constant of prior boxes. It is far above any
// detector's.
constexpr int64_t kMaxPriors = int64_t{1} << 22;

// Returns the distinct aspect ratios of the boxes of a PriorBox layer; the
// first is 1.
std::vector<float> AspectRatios(const PriorBoxParameter& p) {
  std::vector<float> ratios{1};
  for (const float ratio : p.aspect_ratio()) {
    const auto same = [&](float other) {
      return std::abs(ratio - other) < 1e-6;
    };
    if (std::any_of(ratios.begin(), ratios.end(), same)) continue;
    ratios.push_back(ratio);
    if (p.flip()) ratios.push_back(1 / ratio);
  }
  return ratios;
}

// Returns width and height of each prior box that a PriorBox layer makes at one
// cell of the feature map.
std::vector<std::pair<float, float>> BoxSizes(const PriorBoxParameter& p) {
  std::vector<std::pair<float, float>> sizes;
  const std::vector<float> ratios = AspectRatios(p);
  for (int i = 0; i < p.min_size_size(); ++i) {
    // Caffe's SSD truncates the sizes of boxes to whole pixels.
    const float least = std::trunc(p.min_size(i));
    sizes.emplace_back(least, least);
    if (p.max_size_size() > 0) {
      const float side = std::sqrt(least * std::trunc(p.max_size(i)));
      sizes.emplace_back(side, side);
    }
    for (const float ratio : ratios) {
      if (std::abs(ratio - 1) < 1e-6) continue;
      sizes.emplace_back(least * std::sqrt(ratio), least / std::sqrt(ratio));
    }
  }
  return sizes;
}

// Decodes boxes that are predicted relative to priors; all operands are [.., b,
// 4].
Tensor Decoded(const DetectionOutputParameter& p, Tensor predicted,
               const Tensor& priors, const Tensor& variances) {
  if (!p.variance_encoded_in_target()) predicted = predicted * variances;
  const Corners prior = CornersOf(priors), change = CornersOf(predicted);
  const Tensor width = prior.x2 - prior.x1, height = prior.y2 - prior.y1;
  switch (p.code_type()) {
    case PriorBoxParameter::CORNER:
      return priors + predicted;
    case PriorBoxParameter::CORNER_SIZE:
      return Joined(
          {prior.x1 + change.x1 * width, prior.y1 + change.y1 * height,
           prior.x2 + change.x2 * width, prior.y2 + change.y2 * height});
    case PriorBoxParameter::CENTER_SIZE:
      break;
  }
  return ops::MovedBoxes(priors, predicted, {});
}

// Returns the rows whose conditions are true, in their order.
Tensor ChosenRows(LayerContext& c, const Tensor& rows,
                  const Tensor& condition) {
  if (!c.ok()) return rows;
  const Tensor places = Apply("non_zero", {condition},
                              {{"defines", Shape{c.builder().FreshSymbol()}}});
  return Gather(rows, places, 0);
}

// Keeps at most `most` rows of each image, which are those with the best
// scores, without changing their order. rows: [k, 7].
Tensor BestOfImages(LayerContext& c, const Tensor& rows, const Dim& images,
                    int64_t most) {
  if (!c.ok()) return rows;
  const Dim count = rows.dim(0);
  const std::vector<Tensor> sorted = ApplyAll(
      "top_k", {Column(rows, 2)},
      {{"axis", int64_t{0}}, {"k", Shape{count}}, {"largest", int64_t{1}}});
  if (!c.ok()) return rows;
  // For each row, in order of scores: how many rows of the same image precede
  // it.
  Tensor rank;
  if (images == Dim(1)) {
    rank = IotaVector(c.builder(), count, DType::kI64);
  } else {
    const Tensor image = Gather(Column(rows, 0), sorted[1], 0);
    const Tensor is_of =
        Equal(Unsqueeze(image, {1}),
              Unsqueeze(IotaVector(c.builder(), images, DType::kF32), {0}));
    const Tensor seen =
        ops::InclusiveScan(Cast(is_of, DType::kI64), 0, ops::Opcode::kAdd, 0);
    rank = Reduce(Select(is_of, seen, seen.Like(0)), "sum", {1}, false) - 1.0;
  }
  const Tensor chosen =
      ChosenRows(c, sorted[1], Less(rank, static_cast<double>(most)));
  // Restores the order that the chosen rows had before they were sorted by
  // score.
  const std::vector<Tensor> ordered = ApplyAll("top_k", {chosen},
                                               {{"axis", int64_t{0}},
                                                {"k", Shape{chosen.dim(0)}},
                                                {"largest", int64_t{0}}});
  return c.ok() ? Gather(rows, ordered[0], 0) : rows;
}

struct ProposalOptions {
  int64_t stride = 16, base = 16;
  double min_size = 16, overlap = 0.7;
  int64_t before = 6000, after = 300;
  std::vector<float> ratios{0.5, 1, 2}, scales{8, 16, 32};
};

// Reshapes [1, A * k, H, W] to a row per box, [H * W * A, k]: A boxes at each
// position, of k numbers each.
Tensor PerAnchor(const Tensor& x, int64_t anchors, int64_t width) {
  const Tensor parts =
      Reshape(x, {Dim(anchors), Dim(width), x.dim(2), x.dim(3)});
  return Reshape(Transpose(parts, {2, 3, 0, 1}),
                 {x.dim(2) * x.dim(3) * Dim(anchors), Dim(width)});
}

// Imports a layer that proposes regions. Operands: scores [1, 2A, H, W] and box
// deltas [1, 4A, H, W] for A anchors per cell, and the image's (height, width,
// scale). Results: regions [k, 5] (image, corners), and their scores.
void ImportProposals(LayerContext& c, const ProposalOptions& o) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 4, 4) || !c.CheckRank(2, 2) ||
      !c.CheckRange("feat_stride", o.stride) ||
      !c.CheckRange("base_size", o.base) ||
      !c.CheckRange("pre_nms_topn", o.before) ||
      !c.CheckRange("post_nms_topn", o.after))
    return;
  const Tensor scores = c.Input(0), deltas = c.Input(1);
  const auto extents = c.Extents(scores, 0, 4);
  if (!extents) return;
  const auto count = static_cast<int64_t>(o.ratios.size() * o.scales.size());
  const Shape spatial{scores.dim(2), scores.dim(3)};
  if ((*extents)[0] != 1 || (*extents)[1] != 2 * count ||
      deltas.shape() != Shape{Dim(1), Dim(4 * count), spatial[0], spatial[1]}) {
    return c.FailInvalid("expected scores [1, " + std::to_string(2 * count) +
                         ", h, w] and changes [1, " +
                         std::to_string(4 * count) + ", h, w] for " +
                         std::to_string(count) + " anchors, found " +
                         graph::ShapeToString(scores.shape()) + " and " +
                         graph::ShapeToString(deltas.shape()));
  }
  const Dim numbers = ElementCount(c.Input(2).shape(), 0,
                                   static_cast<size_t>(c.Input(2).rank()));
  if (!numbers.is_constant() || numbers.constant() < 3) {
    return c.FailInvalid(
        "expected a third bottom of height, width and scale, found " +
        graph::ShapeToString(c.Input(2).shape()));
  }
  const Tensor info = Reshape(c.Input(2), {numbers});
  const auto number = [&](int64_t i) {
    return Reshape(SliceAxis(info, 0, Dim(i), Dim(1)), Shape{});
  };
  const Tensor height = number(0), width = number(1);
  const Tensor scale_h = number(2);
  const Tensor scale_w = numbers.constant() > 3 ? number(3) : scale_h;
  const std::vector<float> anchors =
      ops::RegionAnchors(o.base, o.ratios, o.scales);
  const Tensor zero = c.Scalar(0);
  const Dim total = spatial[0] * spatial[1] * Dim(count);
  const Tensor boxes = ops::ClippedBoxes(
      ops::MovedBoxes(
          ops::AnchorsOfCells(Reshape(c.Vector(anchors), {Dim(count), Dim(4)}),
                              spatial[0], spatial[1],
                              static_cast<double>(o.stride)),
          PerAnchor(deltas, count, 4), {.extra = 1}),
      height, width, 1);
  const Tensor foreground =
      PerAnchor(SliceAxis(scores, 1, Dim(count), Dim(count)), count, 1);
  // Proposals whose boxes are smaller than the minimum size are dropped.
  const Tensor large = And(
      LessEqual(scale_w * o.min_size, Part(boxes, 2) - Part(boxes, 0) + 1.0),
      LessEqual(scale_h * o.min_size, Part(boxes, 3) - Part(boxes, 1) + 1.0));
  const double none = std::numeric_limits<float>::lowest();
  const Tensor ranked =
      Squeeze(Select(large, foreground, foreground.Like(none)), {1});
  const Dim before = total.is_constant()
                         ? Dim(std::min(total.constant(), o.before))
                         : Dim(o.before);
  const std::vector<Tensor> best = ApplyAll(
      "top_k", {ranked},
      {{"axis", int64_t{0}}, {"k", Shape{before}}, {"largest", int64_t{1}}});
  if (!c.ok()) return;
  const Tensor candidates = Gather(boxes, best[1], 0);
  const Tensor rows = ops::KeptBoxes(candidates, best[0], c.Scalar(o.overlap),
                                     c.Scalar(none), Dim(o.after), 1);
  if (!c.ok()) return;
  const Tensor chosen = Gather(candidates, rows, 0);
  if (!c.ok()) return;
  c.SetOutput(0, Concat({Broadcast(zero, {chosen.dim(0), Dim(1)}), chosen}, 1));
  c.SetOutput(1, Unsqueeze(Gather(best[0], rows, 0), {1}));
}

}  // namespace

// Imports PriorBox. The result is [1, 2, h * w * boxes * 4]: the corners of the
// boxes of each cell, and their variances.
void ImportPriorBox(LayerContext& c) {
  const PriorBoxParameter& p = c.layer().prior_box_param();
  if (!c.CheckRank(0, 4, 4)) return;
  const auto extents = c.Extents(c.Input(0), 2, 4);
  if (!extents) return;
  if (p.min_size_size() == 0 ||
      (p.max_size_size() > 0 && p.max_size_size() != p.min_size_size())) {
    return c.FailInvalid(
        "expected a min_size, and none or as many of max_size, "
        "found " +
        std::to_string(p.min_size_size()) + " and " +
        std::to_string(p.max_size_size()));
  }
  if (p.variance_size() > 1 && p.variance_size() != 4) {
    return c.FailInvalid("variance: expected one or four, found " +
                         std::to_string(p.variance_size()));
  }
  std::vector<int64_t> image{p.has_img_h() ? p.img_h() : p.img_size(),
                             p.has_img_w() ? p.img_w() : p.img_size()};
  if (!p.has_img_h() && !p.has_img_size()) {
    if (!c.CheckRank(1, 4, 4)) return;
    const auto of_image = c.Extents(c.Input(1), 2, 4);
    if (!of_image) return;
    image = *of_image;
  }
  if (!c.CheckRange("img_h", image[0]) || !c.CheckRange("img_w", image[1]))
    return;
  const auto rows = static_cast<float>((*extents)[0]);
  const auto columns = static_cast<float>((*extents)[1]);
  const auto height = static_cast<float>(image[0]);
  const auto width = static_cast<float>(image[1]);
  const float step_h = p.has_step_h() ? p.step_h()
                       : p.has_step() ? p.step()
                                      : height / rows;
  const float step_w = p.has_step_w() ? p.step_w()
                       : p.has_step() ? p.step()
                                      : width / columns;
  const std::vector<std::pair<float, float>> sizes = BoxSizes(p);
  const auto boxes = static_cast<int64_t>(sizes.size());
  if ((*extents)[0] > kMaxPriors || (*extents)[1] > kMaxPriors ||
      boxes > kMaxPriors ||
      (*extents)[0] * (*extents)[1] > kMaxPriors / boxes) {
    return c.FailInvalid("expected at most " + std::to_string(kMaxPriors) +
                         " boxes, found " +
                         graph::ShapeToString(c.Input(0).shape()) + " with " +
                         std::to_string(boxes) + " per cell");
  }
  std::vector<float> corners;
  for (int64_t y = 0; y < (*extents)[0]; ++y) {
    for (int64_t x = 0; x < (*extents)[1]; ++x) {
      const float center_x = (static_cast<float>(x) + p.offset()) * step_w;
      const float center_y = (static_cast<float>(y) + p.offset()) * step_h;
      for (const auto& [w, h] : sizes) {
        for (const float corner :
             {(center_x - w / 2) / width, (center_y - h / 2) / height,
              (center_x + w / 2) / width, (center_y + h / 2) / height}) {
          corners.push_back(p.clip() ? std::clamp(corner, 0.0f, 1.0f) : corner);
        }
      }
    }
  }
  std::vector<float> variances(4, p.variance_size() > 0 ? p.variance(0) : 0.1f);
  for (int i = 0; p.variance_size() == 4 && i < 4; ++i)
    variances[i] = p.variance(i);
  const Dim count(static_cast<int64_t>(corners.size()));
  const Tensor first = Reshape(c.Vector(corners), {Dim(1), Dim(1), count});
  const Tensor second = Reshape(
      Broadcast(c.Vector(variances), {FloorDivide(count, Dim(4)), Dim(4)}),
      {Dim(1), Dim(1), count});
  c.SetOutput(0, Concat({first, second}, 1));
}

// Imports DetectionOutput. Operands for b priors: box deltas [N, b * classes *
// 4], scores [N, b * classes], priors [1, 2, b * 4]. The result [1, 1, k, 7]
// has a row (image, class, score, corners) for each box, sorted by image, class
// and score. If no box is found, it has a row (image, -1 …) for each image.
void ImportDetectionOutput(LayerContext& c) {
  const DetectionOutputParameter& p = c.layer().detection_output_param();
  const NonMaximumSuppressionParameter& nms = p.nms_param();
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, 2) || !c.CheckRank(2, 3, 3) ||
      !c.CheckRange("num_classes", p.num_classes()))
    return;
  if (c.input_count() > 3)
    return c.FailUnsupported("expected three bottoms, found a fourth");
  if (nms.eta() != 1) {
    return c.FailUnsupported("eta: expected 1, found " +
                             std::to_string(nms.eta()));
  }
  if (nms.nms_threshold() < 0)
    return c.FailInvalid("nms_threshold: expected at least 0");
  const std::optional<int64_t> numbers = c.Extent(c.Input(2), 2);
  const std::optional<int64_t> images = c.Extent(c.Input(1), 0);
  if (!numbers || !images) return;
  const int64_t count = *numbers / 4, classes = p.num_classes();
  const int64_t places = p.share_location() ? 1 : classes;
  const Dim n(*images);
  if (!c.CheckRange("priors", count) || !c.CheckRange("images", *images))
    return;
  const auto row_size = [](const Tensor& x) {
    return ElementCount(x.shape(), 1, static_cast<size_t>(x.rank()));
  };
  if (row_size(c.Input(0)) != Dim(count) * Dim(places) * Dim(4) ||
      row_size(c.Input(1)) != Dim(count) * Dim(classes) ||
      c.Input(0).dim(0) != n || c.Input(2).dim(0) != Dim(1) ||
      c.Input(2).dim(1) != Dim(2) || *numbers != 4 * count) {
    return c.FailInvalid("expected bottoms for " + std::to_string(count) +
                         " priors and " + std::to_string(classes) +
                         " classes, found " +
                         graph::ShapeToString(c.Input(0).shape()) + ", " +
                         graph::ShapeToString(c.Input(1).shape()) + " and " +
                         graph::ShapeToString(c.Input(2).shape()));
  }
  std::vector<int64_t> labels;
  for (int64_t label = 0; label < classes; ++label)
    if (label != p.background_label_id()) labels.push_back(label);
  if (labels.empty())
    return c.FailInvalid("num_classes: expected one beside the background");
  const Dim chosen(static_cast<int64_t>(labels.size()));
  // Computes boxes [N, classes or 1, b, 4] and scores [N, classes, b], without
  // the background class. There is one set of boxes for all classes if they
  // share locations.
  const Tensor prior = Reshape(c.Input(2), {Dim(2), Dim(count), Dim(4)});
  const auto half = [&](int64_t i) {
    return Reshape(SliceAxis(prior, 0, Dim(i), Dim(1)),
                   {Dim(1), Dim(1), Dim(count), Dim(4)});
  };
  const Tensor changes = Transpose(
      Reshape(c.Input(0), {n, Dim(count), Dim(places), Dim(4)}), {0, 2, 1, 3});
  Tensor boxes = Decoded(p, changes, half(0), half(1));
  if (!p.share_location()) boxes = Gather(boxes, c.Vector(labels), 1);
  const Tensor scores = Gather(
      Transpose(Reshape(c.Input(1), {n, Dim(count), Dim(classes)}), {0, 2, 1}),
      c.Vector(labels), 1);
  // Selects the boxes with the best scores in each class.
  const int64_t top = nms.has_top_k() && nms.top_k() >= 0
                          ? std::min(nms.top_k(), count)
                          : count;
  const std::vector<Tensor> best = ApplyAll(
      "top_k", {scores},
      {{"axis", int64_t{2}}, {"k", Shape{Dim(top)}}, {"largest", int64_t{1}}});
  if (!c.ok()) return;
  // Merges images and classes into one dim of pairs, each with its best boxes.
  const Dim pairs = n * chosen;
  const Tensor pair_rows = Cast(
      Unsqueeze(IotaVector(c.builder(), pairs, DType::kI64), {1}), DType::kI64);
  const Tensor flat = Reshape(Broadcast(boxes, {n, chosen, Dim(count), Dim(4)}),
                              {pairs * Dim(count), Dim(4)});
  const Tensor candidates = Gather(flat,
                                   pair_rows * static_cast<double>(count) +
                                       Reshape(best[1], {pairs, Dim(top)}),
                                   0);
  const Tensor least = c.Scalar(p.has_confidence_threshold()
                                    ? p.confidence_threshold()
                                    : std::numeric_limits<float>::lowest());
  const Tensor kept = ops::NonMaxSuppression(
      candidates, Reshape(best[0], {pairs, Dim(1), Dim(top)}),
      c.Scalar(nms.nms_threshold()), least, Dim(top));
  if (!c.ok()) return;
  const Tensor pair = Column(kept, 0);
  const Tensor place = pair * static_cast<double>(top) + Column(kept, 2);
  const Tensor image =
      Cast(Floor(Cast(pair, DType::kF64) / static_cast<double>(labels.size())),
           DType::kI64);
  const Tensor label = Gather(
      c.Vector(labels), pair - image * static_cast<double>(labels.size()), 0);
  const auto as_column = [](const Tensor& x) {
    return Unsqueeze(Cast(x, DType::kF32), {1});
  };
  const Tensor corners = Minimum(
      Maximum(Gather(Reshape(candidates, {pairs * Dim(top), Dim(4)}), place, 0),
              0),
      1);
  Tensor rows =
      Concat({as_column(image), as_column(label),
              as_column(Gather(Reshape(best[0], {pairs * Dim(top)}), place, 0)),
              corners},
             1);
  if (p.keep_top_k() >= 0) rows = BestOfImages(c, rows, n, p.keep_top_k());
  if (!c.ok()) return;
  // Number of filler rows: one per image if no box is found in any image, else
  // 0.
  const Tensor found = DimScalar(c.builder(), rows.dim(0));
  const Tensor fake =
      Reshape(Select(Equal(found, 0), found.Like(static_cast<double>(*images)),
                     found.Like(0)),
              {Dim(1)});
  if (!c.ok()) return;
  const Shape extra = c.builder().Extents(fake.value());
  if (!c.ok()) return;
  const Tensor numbered =
      Unsqueeze(IotaVector(c.builder(), extra[0], DType::kF32), {1});
  const Tensor all = Concat(
      {rows,
       Concat({numbered, Broadcast(c.Scalar(-1), {extra[0], Dim(6)})}, 1)},
      0);
  if (!c.ok()) return;
  c.SetOutput(0, Reshape(all, {Dim(1), Dim(1), all.dim(0), Dim(7)}));
}

void ImportProposal(LayerContext& c) {
  const ProposalParameter& p = c.layer().proposal_param();
  ProposalOptions o;
  o.stride = p.feat_stride();
  o.base = p.base_size();
  o.min_size = p.min_size();
  o.overlap = p.nms_thresh();
  o.before = p.pre_nms_topn();
  o.after = p.post_nms_topn();
  if (p.ratio_size() > 0) o.ratios.assign(p.ratio().begin(), p.ratio().end());
  if (p.scale_size() > 0) o.scales.assign(p.scale().begin(), p.scale().end());
  constexpr size_t kMaxAnchors = 1024;
  if (o.ratios.size() > kMaxAnchors || o.scales.size() > kMaxAnchors)
    return c.FailInvalid("expected at most 1024 ratios and scales");
  ImportProposals(c, o);
}

// Imports a Python layer, which is py-faster-rcnn's layer of proposals, with
// its settings for testing. Other Python layers are refused.
void ImportPython(LayerContext& c) {
  const PythonParameter& p = c.layer().python_param();
  if (!IsKnownPythonLayer(p))
    return c.FailUnsupported("expected rpn.proposal_layer.ProposalLayer");
  ProposalOptions o;
  const std::string& text = p.param_str();
  constexpr std::string_view kKey = "feat_stride";
  const size_t key = text.find(kKey);
  const size_t number = text.find_first_of("0123456789", key);
  if (key == std::string::npos || number == std::string::npos) {
    return c.FailInvalid("param_str: expected 'feat_stride': a number, found " +
                         std::string("none"));
  }
  if (text.find("scales") != std::string::npos) {
    return c.FailUnsupported(
        "param_str: expected no scales: use a layer of type Proposal");
  }
  o.stride = std::strtoll(text.c_str() + number, nullptr, 10);
  ImportProposals(c, o);
}

void ImportRoiPooling(LayerContext& c) {
  const ROIPoolingParameter& p = c.layer().roi_pooling_param();
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 2) ||
      !c.CheckRange("pooled_h", p.pooled_h()) ||
      !c.CheckRange("pooled_w", p.pooled_w()))
    return;
  const Tensor rois = Reshape(
      c.Input(1), {c.Input(1).dim(0),
                   ElementCount(c.Input(1).shape(), 1,
                                static_cast<size_t>(c.Input(1).rank()))});
  if (rois.dim(1) != Dim(5)) {
    return c.FailInvalid("expected regions of 5 numbers, found " +
                         graph::ShapeToString(c.Input(1).shape()));
  }
  c.SetOutput(0, ops::MaxRoiPool(c.Input(0), rois,
                                 {.bins = {p.pooled_h(), p.pooled_w()},
                                  .scale = p.spatial_scale()}));
}

// Imports PSROIPooling (R-FCN): divides each region into bins, and computes the
// mean of each bin from the channel that belongs to the bin.
void ImportPsRoiPooling(LayerContext& c) {
  const PSROIPoolingParameter& p = c.layer().psroi_pooling_param();
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 2, 2) ||
      !c.CheckRange("output_dim", p.output_dim()) ||
      !c.CheckRange("group_size", p.group_size()))
    return;
  const Tensor x = c.Input(0), rois = c.Input(1);
  const int64_t bins = p.group_size();
  if (bins > 1024 || x.dim(1) != Dim(p.output_dim()) * Dim(bins * bins) ||
      rois.dim(1) != Dim(5)) {
    return c.FailInvalid(
        "expected output_dim * group_size * group_size channels and regions of "
        "5 numbers, found " +
        graph::ShapeToString(x.shape()) + " and " +
        graph::ShapeToString(rois.shape()));
  }
  c.SetOutput(0, ops::PositionSensitivePool(x, rois,
                                            {.bins = bins,
                                             .channels = p.output_dim(),
                                             .scale = p.spatial_scale()}));
}

}  // namespace ember::caffe
