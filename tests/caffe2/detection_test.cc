// Tests Detectron's operators against plain loops of their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/caffe2/one_operator.h"
#include "tests/formats/deform_reference.h"
#include "tests/formats/detection_reference.h"

namespace ember::tests {
namespace {

using Op = OneCaffe2Operator;

std::string Reals(const std::string& name, const Values& values) {
  std::string text = "arg { name: \"" + name + "\"";
  for (const double value : values) text += " floats: " + std::to_string(value);
  return text + " }\n";
}

// Applies `change` to a box and clips the box to the image, as Detectron does.
Box Moved(const Box& box, const Values& change, const Values& weights,
          double height, double width, double extra, double end) {
  Box moved = {};
  for (const size_t axis : {0, 1}) {
    const double size = box[axis + 2] - box[axis] + extra;
    const double center =
        change[axis] / weights[axis] * size + box[axis] + 0.5 * size;
    const double growth =
        std::min(change[axis + 2] / weights[axis + 2], std::log(1000.0 / 16));
    const double half = 0.5 * std::exp(growth) * size;
    const double last = (axis == 0 ? width : height) - extra;
    moved[axis] = std::clamp(center - half, 0.0, last);
    moved[axis + 2] = std::clamp(center + half - end, 0.0, last);
  }
  return moved;
}

TEST(Caffe2Detection, BBoxTransform) {
  constexpr size_t kRegions = 5, kClasses = 2;
  ReferenceRandom random;
  Values regions;
  const int images[] = {0, 0, 1, 1, 1};
  for (const int image : images) {
    const double x = random.Next(0, 40), y = random.Next(0, 40);
    for (const double v : {static_cast<double>(image), x, y,
                           x + random.Next(4, 20), y + random.Next(4, 20)})
      regions.push_back(static_cast<float>(v));
  }
  const Values changes = random.Many(kRegions * kClasses * 4, -1, 1);
  const Values infos = {60, 70, 2, 50, 48, 1.5};
  const Values weights = {10, 10, 5, 5};
  struct Case {
    std::string arguments;
    double extra, end;
    bool scales;
  };
  for (const Case& c :
       {Case{"", 1, 1, true}, Case{Int("legacy_plus_one", 0), 0, 0, true},
        Case{Int("correct_transform_coords", 0) + Int("apply_scale", 0), 1, 0,
             false}}) {
    SCOPED_TRACE(c.arguments);
    Values expected;
    for (size_t i = 0; i < kRegions; ++i) {
      const auto image = static_cast<size_t>(images[i]) * 3;
      const double scale = infos[image + 2];
      Box box = BoxAt(regions, i * 5 + 1);
      for (double& v : box) v /= scale;
      for (size_t k = 0; k < kClasses; ++k) {
        const auto first =
            changes.begin() + static_cast<int>((i * kClasses + k) * 4);
        for (const double v :
             Moved(box, {first, first + 4}, weights,
                   std::floor(infos[image] / scale + 0.5),
                   std::floor(infos[image + 1] / scale + 0.5), c.extra, c.end))
          expected.push_back(c.scales ? v * scale : v);
      }
    }
    ExpectNumbers(Op("BBoxTransform", Reals("weights", weights) + c.arguments)
                      .Input(F32({kRegions, 5}, regions))
                      .Input(F32({kRegions, kClasses * 4}, changes))
                      .Input(F32({2, 3}, infos))
                      .Results(2)
                      .Run(),
                  {F32({kRegions, kClasses * 4}, expected), F32({2}, {2, 3})});
  }
}

TEST(Caffe2Detection, GenerateProposals) {
  constexpr size_t kImages = 2, kAnchors = 2, kRows = 3, kColumns = 4;
  constexpr size_t kCells = kRows * kColumns, kBefore = 18, kAfter = 6;
  ReferenceRandom random;
  const Values scores = random.Many(kImages * kAnchors * kCells, 0, 1);
  const Values changes =
      random.Many(kImages * 4 * kAnchors * kCells, -0.7, 0.7);
  const Values infos = {48, 64, 1, 40, 60, 1.25};
  const Values anchors = {0, 0, 15, 15, -8, -4, 23, 19};
  for (const bool legacy : {true, false}) {
    SCOPED_TRACE(legacy);
    const double extra = legacy ? 1 : 0;
    Values regions, probabilities;
    for (size_t image = 0; image < kImages; ++image) {
      const double* info = &infos[image * 3];
      std::vector<Box> boxes;
      Values own;
      for (size_t cell = 0; cell < kCells; ++cell) {
        for (size_t a = 0; a < kAnchors; ++a) {
          Box box = BoxAt(anchors, a * 4);
          for (size_t i = 0; i < 4; ++i)
            box[i] += 16 * static_cast<double>(i % 2 == 0 ? cell % kColumns
                                                          : cell / kColumns);
          Values change;
          for (size_t i = 0; i < 4; ++i)
            change.push_back(
                changes[((image * kAnchors + a) * 4 + i) * kCells + cell]);
          boxes.push_back(
              Moved(box, change, {1, 1, 1, 1}, info[0], info[1], extra, extra));
          own.push_back(scores[(image * kAnchors + a) * kCells + cell]);
        }
      }
      std::vector<size_t> order = Ordered(own), large;
      order.resize(kBefore);
      for (const size_t i : order) {
        const double w = boxes[i][2] - boxes[i][0] + extra;
        const double h = boxes[i][3] - boxes[i][1] + extra;
        if (w >= 9 * info[2] && h >= 9 * info[2] &&
            boxes[i][0] + w / 2 < info[1] && boxes[i][1] + h / 2 < info[0])
          large.push_back(i);
      }
      for (const size_t i : Unsuppressed(large, boxes, 0.3, kAfter, extra)) {
        regions.push_back(static_cast<double>(image));
        for (const double v : boxes[i]) regions.push_back(v);
        probabilities.push_back(own[i]);
      }
    }
    const auto count = static_cast<int64_t>(probabilities.size());
    ASSERT_GT(count, 4);
    ExpectNumbers(
        Op("GenerateProposals",
           Real("spatial_scale", 1.0 / 16) + Int("pre_nms_topN", kBefore) +
               Int("post_nms_topN", kAfter) + Real("nms_thresh", 0.3) +
               Real("min_size", 9) + Int("legacy_plus_one", legacy ? 1 : 0))
            .Input(F32({kImages, kAnchors, kRows, kColumns}, scores))
            .Input(F32({kImages, 4 * kAnchors, kRows, kColumns}, changes))
            .Input(F32({kImages, 3}, infos))
            .Constant(F32({kAnchors, 4}, anchors))
            .Results(2)
            .Run(),
        {F32({count, 5}, regions), F32({count}, probabilities)});
  }
}

TEST(Caffe2Detection, BoxWithNmsLimit) {
  constexpr size_t kCount = 12, kClasses = 3;
  ReferenceRandom random;
  const Values scores = random.Many(kCount * kClasses, 0, 1);
  Values all;
  for (size_t i = 0; i < kCount * kClasses; ++i) {
    const double x = random.Next(0, 8), y = random.Next(0, 8);
    for (const double v : {x, y, x + 9, y + 9})
      all.push_back(static_cast<float>(v));
  }
  struct Case {
    std::string arguments;
    // Largest number of detections of an image, all classes together.
    size_t most;
    bool agnostic, of_background;
    double first;  // number that the results contain for the first class
  };
  const Case cases[] = {
      {Int("detections_per_im", 5), 5, false, true, 1},
      {Int("detections_per_im", 0) + Int("output_classes_include_bg_cls", 0),
       100, false, true, 0},
      {Int("cls_agnostic_bbox_reg", 1), 100, true, true, 1},
      {Int("input_boxes_include_bg_cls", 0), 100, false, false, 1}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.arguments);
    const size_t given =
        (c.agnostic ? 1 : kClasses - 1) + (c.of_background ? 1 : 0);
    const auto boxes_of = [&](size_t label) {
      std::vector<Box> boxes;
      const size_t column =
          (c.agnostic ? 1 : label) - (c.of_background ? 0 : 1);
      for (size_t i = 0; i < kCount; ++i)
        boxes.push_back(BoxAt(all, (i * given + column) * 4));
      return boxes;
    };
    // Returns the score of box i for the class `label`. If c.of_background is
    // false, the columns begin with the class 1, and the background is the last
    // column.
    const auto score = [&](size_t i, size_t label) {
      return scores[i * kClasses + label - (c.of_background ? 0 : 1)];
    };
    struct Found {
      size_t label, box;
    };
    std::vector<Found> found;
    for (size_t label = 1; label < kClasses; ++label) {
      Values own;
      for (size_t i = 0; i < kCount; ++i) own.push_back(score(i, label));
      std::vector<size_t> order;
      for (const size_t i : Ordered(own))
        if (own[i] > 0.2) order.push_back(i);
      for (const size_t i :
           Unsuppressed(order, boxes_of(label), 0.4, kCount, 1))
        found.push_back({label, i});
    }
    // If there are more than c.most detections, those with the lowest scores
    // are dropped.
    while (found.size() > c.most) {
      found.erase(std::min_element(
          found.begin(), found.end(), [&](const Found& a, const Found& b) {
            return score(a.box, a.label) < score(b.box, b.label);
          }));
    }
    Values kept_scores, kept_boxes, labels, kept, counts(kClasses, 0);
    for (const auto& [label, i] : found) {
      kept_scores.push_back(score(i, label));
      const Box box = boxes_of(label)[i];
      kept_boxes.insert(kept_boxes.end(), box.begin(), box.end());
      labels.push_back(static_cast<double>(label) - 1 + c.first);
      kept.push_back(static_cast<double>(i));
      ++counts[label];
    }
    const auto count = static_cast<int64_t>(found.size());
    const Values boxes(all.begin(),
                       all.begin() + static_cast<int>(kCount * given * 4));
    ExpectNumbers(
        Op("BoxWithNMSLimit",
           Real("score_thresh", 0.2) + Real("nms", 0.4) + c.arguments)
            .Input(F32({kCount, kClasses}, scores))
            .Input(F32({kCount, static_cast<int64_t>(given) * 4}, boxes))
            .Results(6)
            .Run(),
        {F32({count}, kept_scores), F32({count, 4}, kept_boxes),
         F32({count}, labels), F32({1}, {static_cast<double>(count)}),
         I32({count}, kept), I32({kClasses}, counts)});
  }
}

// The result for two images at once has the results of each image alone, one
// after the other.
TEST(Caffe2Detection, BoxWithNmsLimitOfImages) {
  constexpr size_t kClasses = 3;
  const std::vector<size_t> counts = {5, 9};
  ReferenceRandom random;
  Values all_scores, all_boxes;
  std::vector<Numbers> joined(6);
  const auto run = [&](const Values& scores, const Values& boxes,
                       const Values& splits) {
    const auto count = static_cast<int64_t>(scores.size() / kClasses);
    return Op("BoxWithNMSLimit", Real("score_thresh", 0.2) + Real("nms", 0.4) +
                                     Int("detections_per_im", 4))
        .Input(F32({count, kClasses}, scores))
        .Input(F32({count, kClasses * 4}, boxes))
        .Input(F32({static_cast<int64_t>(splits.size())}, splits))
        .Results(6)
        .Run();
  };
  for (const size_t count : counts) {
    const Values scores = random.Many(count * kClasses, 0, 1);
    Values boxes;
    for (size_t i = 0; i < count * kClasses; ++i) {
      const double x = random.Next(0, 8), y = random.Next(0, 8);
      for (const double v : {x, y, x + 9, y + 9})
        boxes.push_back(static_cast<float>(v));
    }
    const auto alone = run(scores, boxes, {static_cast<double>(count)});
    ASSERT_TRUE(alone.ok()) << alone.status().ToString();
    ASSERT_GT((*alone)[0].dims[0], 0);
    for (size_t i = 0; i < joined.size(); ++i) {
      const Numbers& own = (*alone)[i];
      if (joined[i].dims.empty()) {
        joined[i] = own;
        continue;
      }
      joined[i].dims[0] += own.dims[0];
      joined[i].values.insert(joined[i].values.end(), own.values.begin(),
                              own.values.end());
    }
    all_scores.insert(all_scores.end(), scores.begin(), scores.end());
    all_boxes.insert(all_boxes.end(), boxes.begin(), boxes.end());
  }
  joined[5].dims = {2, kClasses};
  ExpectNumbers(run(all_scores, all_boxes, {5, 9}), joined);
}

TEST(Caffe2Detection, Pyramids) {
  // The regions are squares with sides of 100, 300, 30 and 500 pixels, which
  // the paper's equation assigns to the levels 2 to 5 of the pyramid.
  const Values regions = {0, 0, 0, 99, 99, 0, 10, 10, 309, 309,
                          1, 5, 5, 34, 34, 1, 0,  0,  499, 499};
  const auto level = [&](size_t i) {
    const Box box = BoxAt(regions, i * 5 + 1);
    const double side =
        std::sqrt((box[2] - box[0] + 1) * (box[3] - box[1] + 1));
    return std::clamp(
        static_cast<int>(std::floor(4 + std::log2(side / 224 + 1e-6))), 2, 5);
  };
  const auto distributed = [&](const std::vector<size_t>& order) {
    std::vector<Numbers> results;
    std::vector<size_t> places;
    for (int wanted = 2; wanted <= 5; ++wanted) {
      Values rows;
      for (size_t place = 0; place < order.size(); ++place) {
        if (level(order[place]) != wanted) continue;
        places.push_back(place);
        const auto first = regions.begin() + static_cast<int>(order[place]) * 5;
        rows.insert(rows.end(), first, first + 5);
      }
      const auto count = static_cast<int64_t>(rows.size() / 5);
      results.push_back(F32({count, 5}, rows));
    }
    Values restored(places.size());
    for (size_t i = 0; i < places.size(); ++i)
      restored[places[i]] = static_cast<double>(i);
    const auto count = static_cast<int64_t>(places.size());
    results.push_back(I32({count}, restored));
    return results;
  };
  ExpectNumbers(
      Op("DistributeFpnProposals").Input(F32({4, 5}, regions)).Results(5).Run(),
      distributed({0, 1, 2, 3}));
  // The proposals come from two levels of the pyramid. The operator keeps the
  // three with the highest scores.
  const Values first(regions.begin(), regions.begin() + 10);
  const Values second(regions.begin() + 10, regions.end());
  const std::vector<size_t> best = {3, 0, 2};
  Values rows;
  for (const size_t i : best)
    for (size_t k = 0; k < 5; ++k) rows.push_back(regions[i * 5 + k]);
  const auto with_inputs = [&](const std::string& type, int results) {
    return Op(type, Int("rpn_post_nms_topN", 3))
        .Input(F32({2, 5}, first))
        .Input(F32({2, 5}, second))
        .Input(F32({2}, {0.6, 0.1}))
        .Input(F32({2}, {0.5, 0.9}))
        .Results(results)
        .Run();
  };
  ExpectNumbers(with_inputs("CollectRpnProposals", 1), {F32({3, 5}, rows)});
  std::vector<Numbers> both = distributed(best);
  both.insert(both.begin(), F32({3, 5}, rows));
  ExpectNumbers(with_inputs("CollectAndDistributeFpnRpnProposals", 6), both);
}

TEST(Caffe2Detection, RegionsOfMaps) {
  constexpr int kHeight = 6, kWidth = 5;
  ReferenceRandom random;
  const Values map = random.Many(2 * 2 * kHeight * kWidth, -2, 2);
  const Values regions = {0, 0, 0, 8, 10, 1, 2, 3, 5, 6, 0, 4, 1, 9, 11};
  for (const bool aligned : {false, true}) {
    for (const int samples : {2, -1}) {
      Values expected;
      for (int r = 0; r < 3; ++r) {
        const Values y = AlignedRegion(
            {map, 2, kHeight, kWidth},
            {regions.begin() + r * 5, regions.begin() + r * 5 + 5}, samples,
            aligned);
        expected.insert(expected.end(), y.begin(), y.end());
      }
      ExpectNumbers(Op("RoIAlign", Int("pooled_h", 2) + Int("pooled_w", 2) +
                                       Real("spatial_scale", 0.5) +
                                       Int("sampling_ratio", samples) +
                                       Int("aligned", aligned ? 1 : 0))
                        .Input(F32({2, 2, kHeight, kWidth}, map))
                        .Input(F32({3, 5}, regions))
                        .Run(),
                    {F32({3, 2, 2, 2}, expected)});
    }
  }
  // The feature map has one channel for each bin, and all elements of a channel
  // are equal. So the mean in a bin is the value of its channel.
  Values constant;
  for (const double v : {1, 2, 3, 4})
    constant.insert(constant.end(), kHeight * kWidth, v);
  ExpectNumbers(Op("PSRoIPool", Int("output_dim", 1) + Int("group_size", 2) +
                                    Real("spatial_scale", 1))
                    .Input(F32({1, 4, kHeight, kWidth}, constant))
                    .Input(F32({1, 5}, {0, 0, 0, 3, 3}))
                    .Run(),
                {F32({1, 1, 2, 2}, {1, 2, 3, 4})});
  ExpectNumbers(Op("BatchPermutation")
                    .Input(F32({3, 1}, {5, 6, 7}))
                    .Constant(I32({3}, {2, 0, 1}))
                    .Run(),
                {F32({3, 1}, {7, 5, 6})});
}

TEST(Detection, DeformConv) {
  const DeformExample example(/*has_sharp_border=*/true, /*has_mask=*/false);
  const std::string common =
      Ints("kernels", {2, 3}) + Int("group", 2) + Int("deformable_group", 2) +
      Ints("strides", {2, 1}) + Ints("dilations", {1, 2});
  ExpectNumbers(Op("DeformConv", common + Ints("pads", {1, 2, 1, 2}))
                    .Input(example.x)
                    .Input(example.offsets)
                    .Constant(example.w)
                    .Constant(example.bias)
                    .Run(),
                {example.Expected()});
}

}  // namespace
}  // namespace ember::tests
