// Tests detectors' operators against plain loops of their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/formats/deform_reference.h"
#include "tests/formats/detection_reference.h"
#include "tests/mxnet/one_operator.h"

namespace ember::tests {
namespace {

using Op = OneMxnetOperator;
TEST(Detection, MultiBoxPrior) {
  const auto expected = [](bool clip, double step_y, double step_x) {
    const int height = 2, width = 3;
    const double sizes[] = {0.5, 0.25}, ratios[] = {1, 4, 0.25};
    Values corners;
    for (int row = 0; row < height; ++row) {
      for (int column = 0; column < width; ++column) {
        const double y = (row + 0.5) * step_y, x = (column + 0.5) * step_x;
        std::vector<std::pair<double, double>> shapes;
        for (const double size : sizes)
          shapes.emplace_back(size * height / width, size);
        for (const int i : {1, 2}) {
          const double ratio = std::sqrt(ratios[i]);
          shapes.emplace_back(sizes[0] * height / width * ratio,
                              sizes[0] / ratio);
        }
        for (const auto& [w, h] : shapes) {
          for (const double v : {x - w / 2, y - h / 2, x + w / 2, y + h / 2})
            corners.push_back(clip ? std::clamp(v, 0.0, 1.0) : v);
        }
      }
    }
    return F32({1, 24, 4}, corners);
  };
  const Numbers map = F32({1, 1, 2, 3}, Values(6));
  ExpectNumbers(Op("_contrib_MultiBoxPrior",
                   {{"sizes", "(0.5, 0.25)"}, {"ratios", "(1, 4, 0.25)"}})
                    .Input(map)
                    .Run(),
                {expected(false, 1.0 / 2, 1.0 / 3)});
  ExpectNumbers(Op("_contrib_MultiBoxPrior", {{"sizes", "(0.5, 0.25)"},
                                              {"ratios", "(1, 4, 0.25)"},
                                              {"clip", "True"},
                                              {"steps", "(0.25, 0.125)"}})
                    .Input(map)
                    .Run(),
                {expected(true, 0.25, 0.125)});
}

TEST(Detection, MultiBoxDetection) {
  constexpr size_t kImages = 2, kClasses = 3, kCount = 12;
  ReferenceRandom random;
  const Values scores = random.Many(kImages * kClasses * kCount, 0, 1);
  const Values changes = random.Many(kImages * kCount * 4, -1, 1);
  Values priors;
  for (size_t i = 0; i < kCount; ++i) {
    const double x = random.Next(0.3, 0.6), y = random.Next(0.3, 0.6);
    for (const double v : {x - 0.25, y - 0.25, x + 0.25, y + 0.25})
      priors.push_back(static_cast<float>(v));
  }
  const double variances[] = {0.1, 0.1, 0.2, 0.2};
  struct Case {
    bool force;
    double overlap, threshold;
    int64_t most;
  };
  for (const Case& c : {Case{false, 0.5, 0.01, -1}, Case{true, 0.6, 0.5, -1},
                        Case{false, 0.4, 0.3, 7}}) {
    SCOPED_TRACE(c.threshold);
    Values expected;
    for (size_t image = 0; image < kImages; ++image) {
      Values best(kCount);
      std::vector<int> labels(kCount);
      std::vector<Box> boxes(kCount);
      for (size_t i = 0; i < kCount; ++i) {
        best[i] = -1;
        for (size_t label = 1; label < kClasses; ++label) {
          const double score = scores[(image * kClasses + label) * kCount + i];
          if (score <= best[i]) continue;
          best[i] = score;
          labels[i] = static_cast<int>(label) - 1;
        }
        const Box prior = BoxAt(priors, i * 4);
        const double w = prior[2] - prior[0], h = prior[3] - prior[1];
        const double* change = &changes[(image * kCount + i) * 4];
        const double x = change[0] * variances[0] * w + prior[0] + w / 2;
        const double y = change[1] * variances[1] * h + prior[1] + h / 2;
        boxes[i] = AsCorners({x, y, std::exp(change[2] * variances[2]) * w,
                              std::exp(change[3] * variances[3]) * h});
        for (double& v : boxes[i]) v = std::clamp(v, 0.0, 1.0);
      }
      std::vector<size_t> order;
      for (const size_t i : Ordered(best))
        if (best[i] >= c.threshold) order.push_back(i);
      if (c.most > 0 && order.size() > static_cast<size_t>(c.most))
        order.resize(static_cast<size_t>(c.most));
      std::vector<bool> stays(order.size(), true);
      for (size_t a = 0; a < order.size(); ++a) {
        for (size_t b = a + 1; b < order.size(); ++b) {
          if (stays[a] && (c.force || labels[order[a]] == labels[order[b]]) &&
              Overlap(boxes[order[a]], boxes[order[b]]) >= c.overlap)
            stays[b] = false;
        }
      }
      for (size_t i = 0; i < kCount; ++i) {
        if (i >= order.size()) {
          expected.insert(expected.end(), 6, -1);
          continue;
        }
        expected.push_back(stays[i] ? labels[order[i]] : -1);
        expected.push_back(best[order[i]]);
        for (const double v : boxes[order[i]]) expected.push_back(v);
      }
    }
    ExpectNumbers(Op("_contrib_MultiBoxDetection",
                     {{"nms_threshold", std::to_string(c.overlap)},
                      {"threshold", std::to_string(c.threshold)},
                      {"nms_topk", std::to_string(c.most)},
                      {"force_suppress", c.force ? "True" : "False"}})
                      .Input(F32({kImages, kClasses, kCount}, scores))
                      .Input(F32({kImages, kCount * 4}, changes))
                      .Input(F32({1, kCount, 4}, priors))
                      .Run(),
                  {F32({kImages, kCount, 6}, expected)});
  }
}

TEST(Detection, BoxNms) {
  constexpr size_t kImages = 2, kCount = 14, kWidth = 7;
  ReferenceRandom random;
  Values data;
  for (size_t i = 0; i < kImages * kCount; ++i) {
    const double x = random.Next(1, 3), y = random.Next(1, 3);
    for (const double v : {static_cast<double>(i % 3), random.Next(-0.2, 1), x,
                           y, x + 2, y + 2, static_cast<double>(i)})
      data.push_back(static_cast<float>(v));
  }
  struct Case {
    int64_t id, most, background;
    bool force, in_center, out_center;
    double least;
  };
  for (const Case& c : {Case{-1, -1, -1, false, false, false, 0},
                        Case{0, -1, -1, false, false, true, 0.1},
                        Case{0, 6, -1, true, true, true, 0},
                        Case{0, -1, 1, false, true, false, 0.2}}) {
    SCOPED_TRACE(std::to_string(c.id) + " " + std::to_string(c.most));
    Values expected;
    for (size_t image = 0; image < kImages; ++image) {
      const double* rows = &data[image * kCount * kWidth];
      Values scores;
      for (size_t i = 0; i < kCount; ++i)
        scores.push_back(rows[i * kWidth + 1]);
      const auto box = [&](size_t i) {
        const double* v = rows + i * kWidth + 2;
        const Box own = {v[0], v[1], v[2], v[3]};
        return c.in_center ? AsCorners(own) : own;
      };
      std::vector<size_t> order, kept;
      for (const size_t i : Ordered(scores)) {
        if (scores[i] > c.least &&
            (c.id < 0 || c.background < 0 || rows[i * kWidth] != c.background))
          order.push_back(i);
      }
      if (c.most > 0 && order.size() > static_cast<size_t>(c.most))
        order.resize(static_cast<size_t>(c.most));
      std::vector<Box> boxes;
      for (size_t i = 0; i < kCount; ++i) boxes.push_back(box(i));
      kept =
          Unsuppressed(order, boxes, 0.5, kCount, 0, [&](size_t a, size_t b) {
            return c.id < 0 || c.force || rows[a * kWidth] == rows[b * kWidth];
          });
      for (size_t i = 0; i < kCount; ++i) {
        if (i >= kept.size()) {
          expected.insert(expected.end(), kWidth, -1);
          continue;
        }
        Values row(rows + kept[i] * kWidth, rows + (kept[i] + 1) * kWidth);
        const Box corners = box(kept[i]);
        if (c.in_center && !c.out_center)
          std::copy(corners.begin(), corners.end(), row.begin() + 2);
        if (!c.in_center && c.out_center) {
          const Box b = corners;
          const Box center = {(b[0] + b[2]) / 2, (b[1] + b[3]) / 2, b[2] - b[0],
                              b[3] - b[1]};
          std::copy(center.begin(), center.end(), row.begin() + 2);
        }
        expected.insert(expected.end(), row.begin(), row.end());
      }
    }
    ExpectNumbers(Op("_contrib_box_nms",
                     {{"id_index", std::to_string(c.id)},
                      {"topk", std::to_string(c.most)},
                      {"background_id", std::to_string(c.background)},
                      {"valid_thresh", std::to_string(c.least)},
                      {"force_suppress", c.force ? "True" : "False"},
                      {"in_format", c.in_center ? "center" : "corner"},
                      {"out_format", c.out_center ? "center" : "corner"}})
                      .Input(F32({kImages, kCount, kWidth}, data))
                      .Run(),
                  {F32({kImages, kCount, kWidth}, expected)});
  }
}

TEST(Detection, BoxIou) {
  ReferenceRandom random;
  const Values a = random.Many(2 * 3 * 4, 1, 3), b = random.Many(5 * 4, 1, 3);
  Values expected;
  for (size_t i = 0; i < 6; ++i)
    for (size_t j = 0; j < 5; ++j)
      expected.push_back(
          Overlap(AsCorners(BoxAt(a, i * 4)), AsCorners(BoxAt(b, j * 4))));
  ExpectNumbers(Op("_contrib_box_iou", {{"format", "center"}})
                    .Input(F32({2, 3, 4}, a))
                    .Input(F32({5, 4}, b))
                    .Run(),
                {F32({2, 3, 5}, expected)});
}

TEST(Detection, BoxDecodeAndEncode) {
  ReferenceRandom random;
  const Values changes = random.Many(2 * 3 * 4, -1, 1);
  const Values anchors = random.Many(3 * 4, 1, 2);
  Values expected;
  for (size_t i = 0; i < 6; ++i) {
    const Box anchor = BoxAt(anchors, i % 3 * 4),
              change = BoxAt(changes, i * 4);
    const auto size = [&](size_t axis) {
      return std::exp(std::min(change[axis + 2] * 0.2, 0.1)) * anchor[axis + 2];
    };
    for (const double v :
         AsCorners({change[0] * 0.1 * anchor[2] + anchor[0],
                    change[1] * 0.1 * anchor[3] + anchor[1], size(0), size(1)}))
      expected.push_back(v);
  }
  ExpectNumbers(Op("_contrib_box_decode", {{"std0", "0.1"},
                                           {"std1", "0.1"},
                                           {"std2", "0.2"},
                                           {"std3", "0.2"},
                                           {"clip", "0.1"}})
                    .Input(F32({2, 3, 4}, changes))
                    .Input(F32({1, 3, 4}, anchors))
                    .Run(),
                {F32({2, 3, 4}, expected)});
  // One image with two anchors is encoded; only the first anchor is matched to
  // an object.
  const double w = 2, h = 4;  // width and height of the first anchor's box
  ExpectNumbers(Op("_contrib_box_encode")
                    .Input(F32({1, 2}, {1, 0}))
                    .Input(F32({1, 2}, {1, 0}))
                    .Input(F32({1, 2, 4}, {1, 1, 3, 5, 0, 0, 1, 1}))
                    .Input(F32({1, 2, 4}, {0, 0, 1, 1, 2, 2, 6, 4}))
                    .Input(F32({4}, {0.5, 0, 0, 0.25}))
                    .Input(F32({4}, {0.1, 0.1, 0.2, 0.2}))
                    .Results(2)
                    .Run(),
                {F32({1, 2, 4}, {((4.0 - 2) / w - 0.5) / 0.1,
                                 ((3.0 - 3) / h) / 0.1, std::log(4 / w) / 0.2,
                                 (std::log(2 / h) - 0.25) / 0.2, 0, 0, 0, 0}),
                 F32({1, 2, 4}, {1, 1, 1, 1, 0, 0, 0, 0})});
}

TEST(Detection, BipartiteMatching) {
  // The scores are those of MXNet's documentation. The first call matches the
  // largest scores first, the second call the smallest ones, up to a limit.
  const Values scores = {0.5, 0.6, 0.1, 0.2, 0.3, 0.4};
  ExpectNumbers(Op("_contrib_bipartite_matching", {{"threshold", "1e-12"}})
                    .Input(F32({3, 2}, scores))
                    .Results(2)
                    .Run(),
                {F32({3}, {1, -1, 0}), F32({2}, {2, 0})});
  ExpectNumbers(Op("_contrib_bipartite_matching",
                   {{"threshold", "0.25"}, {"is_ascend", "True"}})
                    .Input(F32({3, 2}, scores))
                    .Results(2)
                    .Run(),
                {F32({3}, {-1, 0, -1}), F32({2}, {1, -1})});
}

// Regions (image, x1, y1, x2, y2), whose image may be -1, for a feature map
// with the shape [2, 2, 6, 5].
const Values kRegions = {0, 0, 0, 8, 10, 1,  2, 3, 5, 6,
                         0, 4, 1, 9, 11, -1, 1, 1, 6, 6};
constexpr int kHeight = 6, kWidth = 5;

Values Map() {
  ReferenceRandom random;
  return random.Many(2 * 2 * kHeight * kWidth, -2, 2);
}
double At(const Values& map, int image, int channel, int y, int x) {
  return map[static_cast<size_t>(
      ((image * 2 + channel) * kHeight + y) * kWidth + x)];
}

TEST(Detection, RoiPooling) {
  const Values map = Map();
  Values expected;
  for (size_t r = 0; r < 4; ++r) {
    const double* region = &kRegions[r * 5];
    const auto corner = [&](int i) {
      return static_cast<int>(std::round(region[i] * 0.5));
    };
    const int x1 = corner(1), y1 = corner(2);
    const double bin_w = std::max(corner(3) - x1 + 1, 1) / 2.0;
    const double bin_h = std::max(corner(4) - y1 + 1, 1) / 3.0;
    for (int channel = 0; channel < 2; ++channel) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 2; ++j) {
          double largest = 0;
          bool any = false;
          for (int y = 0; y < kHeight; ++y) {
            for (int x = 0; x < kWidth; ++x) {
              if (region[0] < 0 || y < y1 + std::floor(i * bin_h) ||
                  y >= y1 + std::ceil((i + 1) * bin_h) ||
                  x < x1 + std::floor(j * bin_w) ||
                  x >= x1 + std::ceil((j + 1) * bin_w))
                continue;
              const double v =
                  At(map, static_cast<int>(region[0]), channel, y, x);
              largest = any ? std::max(largest, v) : v;
              any = true;
            }
          }
          expected.push_back(largest);
        }
      }
    }
  }
  ExpectNumbers(
      Op("ROIPooling", {{"pooled_size", "(3, 2)"}, {"spatial_scale", "0.5"}})
          .Input(F32({2, 2, kHeight, kWidth}, map))
          .Input(F32({4, 5}, kRegions))
          .Run(),
      {F32({4, 2, 3, 2}, expected)});
}

TEST(Detection, RoiAlign) {
  const Values map = Map();
  for (const bool aligned : {false, true}) {
    for (const int samples : {2, -1}) {
      SCOPED_TRACE(std::to_string(aligned) + " " + std::to_string(samples));
      Values expected;
      for (size_t r = 0; r < 4; ++r) {
        const Values region(kRegions.begin() + static_cast<int>(r) * 5,
                            kRegions.begin() + static_cast<int>(r) * 5 + 5);
        const Values y = region[0] < 0
                             ? Values(8)
                             : AlignedRegion({map, 2, kHeight, kWidth}, region,
                                             samples, aligned);
        expected.insert(expected.end(), y.begin(), y.end());
      }
      ExpectNumbers(
          Op("_contrib_ROIAlign", {{"pooled_size", "(2, 2)"},
                                   {"spatial_scale", "0.5"},
                                   {"sample_ratio", std::to_string(samples)},
                                   {"aligned", aligned ? "True" : "False"}})
              .Input(F32({2, 2, kHeight, kWidth}, map))
              .Input(F32({4, 5}, kRegions))
              .Run(),
          {F32({4, 2, 2, 2}, expected)});
    }
  }
}

TEST(Detection, PsRoiPooling) {
  // Each bin of a 2 x 2 grid has its own channel of the feature map: bin (i, j)
  // is channel i * 2 + j.
  ReferenceRandom random;
  const Values map = random.Many(4 * kHeight * kWidth, -2, 2);
  const Values regions = {0, 0, 0, 8, 10, 0, 2, 3, 5, 6};
  Values expected;
  for (const size_t r : {0, 1}) {
    const double* region = &regions[r * 5];
    const double x1 = std::round(region[1]) * 0.5;
    const double y1 = std::round(region[2]) * 0.5;
    const double w = std::max((std::round(region[3]) + 1) * 0.5 - x1, 0.1) / 2;
    const double h = std::max((std::round(region[4]) + 1) * 0.5 - y1, 0.1) / 2;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        double sum = 0;
        int count = 0;
        for (int y = 0; y < kHeight; ++y) {
          for (int x = 0; x < kWidth; ++x) {
            if (y < std::floor(i * h + y1) ||
                y >= std::ceil((i + 1) * h + y1) ||
                x < std::floor(j * w + x1) || x >= std::ceil((j + 1) * w + x1))
              continue;
            sum += map[static_cast<size_t>(
                ((i * 2 + j) * kHeight + y) * kWidth + x)];
            ++count;
          }
        }
        expected.push_back(count > 0 ? sum / count : 0);
      }
    }
  }
  ExpectNumbers(
      Op("_contrib_PSROIPooling",
         {{"output_dim", "1"}, {"pooled_size", "2"}, {"spatial_scale", "0.5"}})
          .Input(F32({1, 4, kHeight, kWidth}, map))
          .Input(F32({2, 5}, regions))
          .Run(),
      {F32({2, 1, 2, 2}, expected)});
}

TEST(Detection, Proposals) {
  constexpr int kImages = 2, kAnchors = 2, kRows = 3, kColumns = 4;
  constexpr int kStride = 16, kTotal = kRows * kColumns * kAnchors;
  ReferenceRandom random;
  const Values scores =
      random.Many(kImages * 2 * kAnchors * kRows * kColumns, 0, 1);
  const Values changes =
      random.Many(kImages * 4 * kAnchors * kRows * kColumns, -0.6, 0.6);
  // The height, width and scale of each of the two images. The second image is
  // lower, so its last row of cells does not count.
  const Values infos = {48, 64, 1, 40, 64, 1.5};
  // The anchors around the first cell, with the ratio 1 and the scales 1 and 2.
  const Box anchors[] = {{0, 0, 15, 15}, {-8, -8, 23, 23}};
  constexpr size_t kWanted = 9, kBefore = 20;
  Values expected, expected_scores;
  for (int image = 0; image < kImages; ++image) {
    const double height = infos[static_cast<size_t>(image) * 3];
    const double width = infos[static_cast<size_t>(image) * 3 + 1];
    const double least = 12 * infos[static_cast<size_t>(image) * 3 + 2];
    std::vector<Box> boxes;
    Values ranked;
    for (int row = 0; row < kRows; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        for (int anchor = 0; anchor < kAnchors; ++anchor) {
          const auto place = [&](int channel, int channels) {
            return static_cast<size_t>(
                ((image * channels + channel) * kRows + row) * kColumns +
                column);
          };
          double moved[4];
          for (const int axis : {0, 1}) {
            const double low = anchors[anchor][static_cast<size_t>(axis)] +
                               kStride * (axis == 0 ? column : row);
            const double size = anchors[anchor][static_cast<size_t>(axis) + 2] -
                                anchors[anchor][static_cast<size_t>(axis)] + 1;
            const double shift =
                changes[place(anchor * 4 + axis, 4 * kAnchors)];
            const double growth =
                changes[place(anchor * 4 + axis + 2, 4 * kAnchors)];
            const double center = shift * size + low + 0.5 * (size - 1);
            const double half = 0.5 * (std::exp(growth) * size - 1);
            const double end = (axis == 0 ? width : height) - 1;
            moved[axis] = std::clamp(center - half, 0.0, end);
            moved[axis + 2] = std::clamp(center + half, 0.0, end);
          }
          double score = scores[place(kAnchors + anchor, 2 * kAnchors)];
          if (row >= static_cast<int>(height / kStride) ||
              column >= static_cast<int>(width / kStride))
            score = -1;
          if (moved[2] - moved[0] + 1 < least ||
              moved[3] - moved[1] + 1 < least) {
            for (const int i : {0, 1}) {
              moved[i] -= least / 2;
              moved[i + 2] += least / 2;
            }
            score = -1;
          }
          boxes.push_back({moved[0], moved[1], moved[2], moved[3]});
          ranked.push_back(score);
        }
      }
    }
    ASSERT_EQ(boxes.size(), static_cast<size_t>(kTotal));
    std::vector<size_t> order = Ordered(ranked), kept;
    order.resize(kBefore);
    kept = Unsuppressed(order, boxes, 0.3, kWanted, 1);
    for (size_t i = 0; i < kWanted; ++i) {
      const size_t chosen = kept[i % kept.size()];
      expected.push_back(image);
      for (const double v : boxes[chosen]) expected.push_back(v);
      expected_scores.push_back(ranked[chosen]);
    }
  }
  for (const char* name : {"_contrib_Proposal", "_contrib_MultiProposal"}) {
    SCOPED_TRACE(name);
    ExpectNumbers(
        Op(name, {{"scales", "(1, 2)"},
                  {"ratios", "(1,)"},
                  {"threshold", "0.3"},
                  {"rpn_min_size", "12"},
                  {"rpn_pre_nms_top_n", std::to_string(kBefore)},
                  {"rpn_post_nms_top_n", std::to_string(kWanted)},
                  {"output_score", "True"}})
            .Input(F32({kImages, 2 * kAnchors, kRows, kColumns}, scores))
            .Input(F32({kImages, 4 * kAnchors, kRows, kColumns}, changes))
            .Input(F32({kImages, 3}, infos))
            .Results(2)
            .Run(),
        {F32({kImages * kWanted, 5}, expected),
         F32({kImages * kWanted, 1}, expected_scores)});
  }
}

TEST(Detection, DeformableConvolutions) {
  for (const bool is_modulated : {false, true}) {
    SCOPED_TRACE(is_modulated);
    const DeformExample example(/*has_sharp_border=*/!is_modulated,
                                is_modulated);
    const auto op = [&](const Numbers& offsets) {
      Op made(is_modulated ? "_contrib_ModulatedDeformableConvolution"
                           : "_contrib_DeformableConvolution",
              {{"kernel", "(2, 3)"},
               {"stride", "(2, 1)"},
               {"pad", "(1, 2)"},
               {"dilate", "(1, 2)"},
               {"num_filter", "6"},
               {"num_group", "2"},
               {"num_deformable_group", "2"}});
      made.Input(example.x).Input(offsets);
      if (is_modulated) made.Input(example.mask);
      made.Constant(example.w).Constant(example.bias);
      return made.Run();
    };
    ExpectNumbers(op(example.offsets), {example.Expected()});
    const auto refused = op(F32({2, 4, 4, 5}, Values(160)));
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.status().ToString().find("offsets: expected [2, 24, 4, "
                                               "5], found [2, 4, 4, 5]"),
              std::string::npos)
        << refused.status().ToString();
  }
}

}  // namespace
}  // namespace ember::tests
