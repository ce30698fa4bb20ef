#include "tune/model/tree_model.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/loops/text/text.h"
#include "tune/model/nest_features.h"

namespace ember::tune {
namespace {

constexpr std::string_view kTarget =
    "x86_64-linux+avx2+fma+l1=32K+l2=1024K+l3=32M+cores=1";

// Returns the features of a nest that multiplies two 256 x 256 matrices with
// register tiles of `rows` rows by `vectors` vectors.
std::vector<float> TiledProduct(int rows, int vectors) {
  const int width = 8 * vectors;
  const std::string u = std::to_string(rows), v = std::to_string(vectors);
  const std::string tile =
      "unroll u < " + u + " { unroll v < " + v + " { vector l < 8 { ";
  const std::string j = "j * " + std::to_string(width) + " + v * 8 + l";
  const std::string text =
      "loops @y(%a: input f32[256, 256], %b: input f32[256, 256], "
      "%y: output f32[256, 256]) { register %acc: f32[" +
      u + ", " + v + ", 8] phase i < " + std::to_string(256 / rows) +
      " { for j < " + std::to_string(256 / width) + " { " + tile +
      "%acc[u, v, l] = 0.0 } } } for k < 256 { " + tile +
      "%acc[u, v, l] += %a[i * " + u + " + u, k] * %b[k, " + j + "] } } } } " +
      tile + "%y[i * " + u + " + u, " + j + "] = %acc[u, v, l] } } } } } }";
  StatusOr<loops::LoopNest> nest = loops::Parse(text);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString() << text;
  return NestFeatures(*nest, {}, kTarget);
}

TEST(TreeModel, PrefersTilesThatFillTheRegisters) {
  const TreeModel model = TreeModel::Shipped();
  // The three nests have a tile of a single vector, a tile of 4 by 2 vectors
  // that fits in the registers, and one of 16 by 4 that spills.
  const std::vector<std::vector<float>> tiles = {
      TiledProduct(1, 1), TiledProduct(4, 2), TiledProduct(16, 4)};
  const auto predictions = model.Predict(tiles);
  EXPECT_GT(predictions[1].score, predictions[0].score + 0.5);
  EXPECT_GT(predictions[1].score, predictions[2].score + 0.2);
  for (const CostModel::Prediction& prediction : predictions)
    EXPECT_GT(prediction.deviation, 0);
}

TEST(TreeModel, LearnsFromMeasuredCandidates) {
  TreeModel model = TreeModel::Shipped();
  const std::vector<std::vector<float>> tiles = {
      TiledProduct(1, 1), TiledProduct(4, 2), TiledProduct(2, 2),
      TiledProduct(8, 1)};
  const auto before = model.Predict(tiles);
  // The measured times contradict the trees: small tiles are as fast as large
  // ones. One candidate failed, so it has no time.
  const double failed = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    model.Update(std::vector{tiles[0], tiles[1], tiles[3]},
                 std::vector{1e-3, 1e-3, failed});
  }
  const auto after = model.Predict(tiles);
  const auto gap = [](const auto& predictions) {
    return predictions[1].score - predictions[0].score;
  };
  EXPECT_LT(gap(after), gap(before) / 2);
  EXPECT_LT(after[0].deviation, before[0].deviation);
}

}  // namespace
}  // namespace ember::tune
