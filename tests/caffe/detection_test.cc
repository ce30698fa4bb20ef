// Tests layers of detectors against loops that follow the papers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/caffe/one_layer.h"

namespace ember::tests {
namespace {

TEST(Detection, PriorBoxes) {
  // The feature map has one cell, which covers 20 x 10 pixels and has its
  // center at (10, 5). The boxes have the sizes 4 x 4, 6 x 6 (the root of 4·9),
  // 8 x 2 and 2 x 8 (ratio 4 and its inverse).
  const Numbers map = F32({1, 1, 1, 1}, {0}),
                image = SequenceOf({1, 1, 10, 20});
  const std::vector<std::pair<double, double>> sizes = {
      {4, 4}, {6, 6}, {8, 2}, {2, 8}};
  std::vector<double> values;
  for (const auto& [w, h] : sizes)
    values.insert(values.end(), {(10 - w / 2) / 20, (5 - h / 2) / 10,
                                 (10 + w / 2) / 20, (5 + h / 2) / 10});
  for (int i = 0; i < 4; ++i) values.insert(values.end(), {0.1, 0.2, 0.3, 0.4});
  ExpectNumbers(RunLayer(R"(type: "PriorBox" prior_box_param {
      min_size: 4.9 max_size: 9 aspect_ratio: 4 aspect_ratio: 1 flip: true
      variance: 0.1 variance: 0.2 variance: 0.3 variance: 0.4 })",
                         {map, image}),
                {F32({1, 2, 16}, values)});
  // Here the net gives the image's size and the step instead of taking them
  // from inputs, and corners are clipped to the image.
  ExpectNumbers(RunLayer(R"(type: "PriorBox" prior_box_param {
      min_size: 8 img_size: 16 step: 8 offset: 0 clip: true variance: 0.5 })",
                         {F32({1, 1, 1, 2}, {0, 0})}),
                {F32({1, 2, 8}, {0, 0, 0.25, 0.25, 0.25, 0, 0.75, 0.25, 0.5,
                                 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5})});
}

// Tests SSD's DetectionOutput with two images, four priors and three classes,
// of which class 0 is the background.
TEST(Detection, OutputOfSsd) {
  const std::vector<double> corners = {0.0, 0.0, 0.4, 0.4, 0.05, 0.0, 0.4, 0.4,
                                       0.5, 0.5, 0.9, 0.9, 0.0,  0.5, 0.3, 0.9};
  std::vector<double> prior = corners;
  prior.insert(prior.end(), 16, 0.1);
  const Numbers location = F32({2, 16}, std::vector<double>(32, 0));
  // The scores of three classes (background first) for each of the four priors;
  // one row for each image.
  const Numbers confidence =
      F32({2, 12},
          {0.1, 0.9,  0.3,  0.1, 0.8, 0.6,  0.1, 0.7,  0.05, 0.1, 0.2, 0.5,
           0.9, 0.01, 0.02, 0.9, 0.4, 0.03, 0.9, 0.04, 0.05, 0.9, 0.0, 0.0});
  const auto box = [&](int i) {
    return std::vector<double>(corners.begin() + 4 * i,
                               corners.begin() + 4 * i + 4);
  };
  const auto rows = [&](const std::vector<std::vector<double>>& heads) {
    std::vector<double> values;
    for (const std::vector<double>& head : heads) {
      values.insert(values.end(), head.begin(), head.begin() + 3);
      const std::vector<double> corners_of = box(static_cast<int>(head[3]));
      values.insert(values.end(), corners_of.begin(), corners_of.end());
    }
    return F32({1, 1, static_cast<int64_t>(heads.size()), 7}, values);
  };
  const std::string layer = R"(type: "DetectionOutput" detection_output_param {
      num_classes: 3 code_type: CENTER_SIZE confidence_threshold: 0.25
      nms_param { nms_threshold: 0.5 top_k: 3 } )";
  // Priors 0 and 1 overlap. In class 1, prior 0 has the higher score and
  // suppresses prior 1; in class 2, prior 1 suppresses prior 0.
  ExpectNumbers(
      RunLayer(layer + "}", {location, confidence, F32({1, 2, 16}, prior)}),
      {rows({{0, 1, 0.9, 0},
             {0, 1, 0.7, 2},
             {0, 2, 0.6, 1},
             {0, 2, 0.5, 3},
             {1, 1, 0.4, 1}})});
  // The parameter keep_top_k keeps the two best detections of each image, in
  // the order of classes.
  ExpectNumbers(RunLayer(layer + "keep_top_k: 2 }",
                         {location, confidence, F32({1, 2, 16}, prior)}),
                {rows({{0, 1, 0.9, 0}, {0, 1, 0.7, 2}, {1, 1, 0.4, 1}})});
  // If all scores are 0, no box is detected, and each image gets a single row
  // of -1 after its number.
  ExpectNumbers(
      RunLayer(layer + "}", {location, F32({2, 12}, std::vector<double>(24, 0)),
                             F32({1, 2, 16}, prior)}),
      {F32({1, 1, 2, 7},
           {0, -1, -1, -1, -1, -1, -1, 1, -1, -1, -1, -1, -1, -1})});
}

TEST(Detection, DecodingOfBoxes) {
  const std::vector<double> prior = {0.2, 0.2, 0.6, 0.4, 0.1, 0.1, 0.2, 0.2};
  const std::vector<double> change = {0.5, -1, 0.25, 0.5};
  const auto run = [&](const std::string& code) {
    return RunLayer(
        R"(type: "DetectionOutput" detection_output_param {
        num_classes: 2 code_type: )" +
            code + "}",
        {F32({1, 4}, change), F32({1, 2}, {0.5, 0.5}), F32({1, 2, 4}, prior)});
  };
  const double w = 0.4 * std::exp(0.05) / 2, h = 0.2 * std::exp(0.1) / 2;
  const double x = 0.05 * 0.4 + 0.4, y = -0.1 * 0.2 + 0.3;
  ExpectNumbers(run("CENTER_SIZE"),
                {F32({1, 1, 1, 7}, {0, 1, 0.5, x - w, y - h, x + w, y + h})});
  ExpectNumbers(run("CORNER"),
                {F32({1, 1, 1, 7}, {0, 1, 0.5, 0.25, 0.1, 0.65, 0.5})});
  ExpectNumbers(run("CORNER_SIZE"),
                {F32({1, 1, 1, 7}, {0, 1, 0.5, 0.22, 0.18, 0.62, 0.42})});
  ExpectNumbers(run("CORNER variance_encoded_in_target: true"),
                {F32({1, 1, 1, 7}, {0, 1, 0.5, 0.7, 0, 0.85, 0.9})});
}

// The example has one anchor of 16 x 16 around the middle of each of two cells,
// moved by deltas.
TEST(Detection, Proposals) {
  const Numbers scores = F32({1, 2, 1, 2}, {0.1, 0.2, 0.6, 0.9});
  const Numbers deltas = F32({1, 4, 1, 2}, {0, 0.25, 0, 0, 0, 0, 0, 0});
  const Numbers info = F32({1, 3}, {20, 40, 1});
  const std::string layer = R"(type: "Proposal" proposal_param {
      feat_stride: 8 min_size: 4 ratio: 1 scale: 1 nms_thresh: )";
  // The anchors (x1, y1, x2, y2) are (0, 0, 15, 15) and (8, 0, 23, 15); the
  // deltas move the second one by 4 pixels. A moved box ends at its center plus
  // half its size, one pixel beyond the anchor's last pixel.
  const std::vector<double> first = {0, 0, 0, 16, 16},
                            second = {0, 12, 0, 28, 16};
  const double shared = 5.0 * 17 / (2.0 * 17 * 17 - 5 * 17);
  std::vector<double> both = second;
  both.insert(both.end(), first.begin(), first.end());
  ExpectNumbers(RunLayer(layer + std::to_string(shared + 0.01) + " }",
                         {scores, deltas, info}, {}, 2),
                {F32({2, 5}, both), F32({2, 1}, {0.9, 0.6})});
  ExpectNumbers(RunLayer(layer + std::to_string(shared - 0.01) + " }",
                         {scores, deltas, info}, {}, 2),
                {F32({1, 5}, second), F32({1, 1}, {0.9})});
  // All boxes are dropped if they are smaller than min_size, which is
  // multiplied by the image's scale, here 5.
  ExpectNumbers(
      RunLayer(layer + "0.9 }", {scores, deltas, F32({1, 3}, {20, 40, 5})}),
      {F32({0, 5}, {})});
}

TEST(Detection, RoiPooling) {
  const Numbers x =
      F32({2, 1, 3, 4}, {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                         21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32});
  // The first region is in the second image. With spatial_scale 0.5 it covers
  // the rows 0 to 1 and the columns 1 to 3 of the feature map.
  ExpectNumbers(RunLayer(R"(type: "ROIPooling" roi_pooling_param {
      pooled_h: 2 pooled_w: 2 spatial_scale: 0.5 })",
                         {x, F32({2, 5}, {1, 2, 0, 6, 2, 0, 20, 20, 22, 22})}),
                {F32({2, 1, 2, 2}, {23, 24, 27, 28, 0, 0, 0, 0})});
}

TEST(Detection, PsRoiPooling) {
  // Each of the eight channels belongs to one bin of a 2 x 2 grid, for one of
  // two outputs.
  Numbers x = F32({1, 8, 2, 2}, {});
  for (int c = 0; c < 8; ++c)
    for (int i = 0; i < 4; ++i) x.values.push_back(10 * c + i);
  ExpectNumbers(RunLayer(R"(type: "PSROIPooling" psroi_pooling_param {
      spatial_scale: 1 output_dim: 2 group_size: 2 })",
                         {x, F32({1, 5}, {0, 0, 0, 1, 1})}),
                {F32({1, 2, 2, 2}, {0, 11, 22, 33, 40, 51, 62, 73})});
}

}  // namespace
}  // namespace ember::tests
