#include "tune/model/analytic_model.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "jit/loops/testing/random_nest.h"
#include "jit/loops/text/text.h"
#include "tune/model/nest_features.h"

namespace ember::tune {
namespace {

double SecondsOf(const loops::LoopNest& nest,
                 const std::vector<int64_t>& parameters,
                 std::string_view target) {
  return AnalyticModel::Seconds(NestFeatures(nest, parameters, target));
}

double SecondsOf(const std::string& text, std::string_view target) {
  StatusOr<loops::LoopNest> nest = loops::Parse(text);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  return SecondsOf(*nest, {}, target);
}

// Returns the text of a nest for a matrix product with the given loops.
std::string Product(const std::string& body) {
  return "loops @y(%a: input f32[512, 512], %b: input f32[512, 512], "
         "%y: output f32[512, 512]) {" +
         body + "}";
}

constexpr std::string_view kTarget =
    "x86_64-linux+avx2+fma+l1=32K+l2=4096K+l3=32M+cores=1";

// Compares three nests of one product: `serial` computes one element at a time,
// `lanes` a row of vectors, `tiles` a register tile of 6 by 2 vectors.
TEST(AnalyticModel, PrefersVectorsAndTiles) {
  const std::string serial = Product(R"(
    phase i < 512 {
      for j < 512 {
        %y[i, j] = 0.0
        for k < 512 { %y[i, j] += %a[i, k] * %b[k, j] }
      }
    })");
  const std::string lanes = Product(R"(
    phase i < 512 {
      for j < 64 {
        vector l < 8 { %y[i, j * 8 + l] = 0.0 }
        for k < 512 {
          vector l < 8 { %y[i, j * 8 + l] += %a[i, k] * %b[k, j * 8 + l] }
        }
      }
    })");
  const std::string tiles = Product(R"(
    register %acc: f32[4, 2, 8]
    phase i < 128 {
      for j < 32 {
        unroll u < 4 { unroll v < 2 { vector l < 8 { %acc[u, v, l] = 0.0 } } }
        for k < 512 {
          unroll u < 4 { unroll v < 2 { vector l < 8 {
            %acc[u, v, l] +=
                %a[i * 4 + u, k] * %b[k, j * 16 + v * 8 + l]
          } } }
        }
        unroll u < 4 { unroll v < 2 { vector l < 8 {
          %y[i * 4 + u, j * 16 + v * 8 + l] = %acc[u, v, l]
        } } }
      }
    })");
  const double slow = SecondsOf(serial, kTarget);
  const double better = SecondsOf(lanes, kTarget);
  const double best = SecondsOf(tiles, kTarget);
  EXPECT_GT(slow, 4 * better);
  EXPECT_GT(better, 4 * best);
  // The arithmetic of `tiles` alone takes 2 * 512^3 / 32 cycles at 3 GHz, which
  // is 2.8 ms. The estimate must lie between this time and twice as much.
  EXPECT_GT(best, 0.0028);
  EXPECT_LT(best, 0.0056);
}

// Each pair of targets differs in one feature. The estimate for the target with
// less of it (smaller caches, fewer features) must not be lower.
TEST(AnalyticModel, IsMonotoneInTheTarget) {
  const std::string base = "x86_64-linux+avx2+fma";
  const std::pair<std::string, std::string> pairs[] = {
      {base + "+l1=64K+l2=1M+l3=8M", base + "+l1=16K+l2=1M+l3=8M"},
      {base + "+l1=32K+l2=4M+l3=8M", base + "+l1=32K+l2=64K+l3=8M"},
      {base + "+l3=64M", base + "+l3=1M"},
      {base, "x86_64-linux+avx2"},
      {base, "x86_64-linux+fma"},
  };
  const SeedRange seeds = TestSeeds(40);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE(ReplayOf(seed, "//tune/model:analytic_model_test"));
    const loops::RandomNest random = loops::MakeRandomNest(seed, {});
    for (const auto& [better, worse] : pairs) {
      EXPECT_LE(SecondsOf(random.nest, random.parameters, better),
                SecondsOf(random.nest, random.parameters, worse) * (1 + 1e-5))
          << better << " and " << worse;
    }
  }
}

TEST(AnalyticModel, ScoresAreLogarithmsOfTimes) {
  std::vector<float> fast(FeatureNames().size()), slow = fast;
  for (size_t i = 0; i < fast.size(); ++i) {
    if (FeatureNames()[i] != "estimate_cycles") continue;
    fast[i] = 10;
    slow[i] = 13;
  }
  AnalyticModel model;
  const auto predictions = model.Predict(std::vector{fast, slow});
  EXPECT_NEAR(predictions[0].score - predictions[1].score, std::log(8), 1e-5);
  EXPECT_GT(predictions[0].deviation, 0);
}

TEST(AnalyticModel, LearnsHowWrongItIs) {
  std::vector<float> fast(FeatureNames().size()), slow = fast;
  for (size_t i = 0; i < fast.size(); ++i) {
    if (FeatureNames()[i] == "estimate_cycles") slow[i] = 3;
  }
  const std::vector<std::vector<float>> one = {fast};
  AnalyticModel right, wrong;
  const double first = right.Predict(one)[0].deviation;
  const double failed = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 20; ++i) {
    right.Update(std::vector{fast, slow, slow},
                 std::vector{1e-3, 8e-3, failed});
    wrong.Update(std::vector{fast, slow, slow},
                 std::vector{9e-3, 1e-3, failed});
  }
  EXPECT_LT(right.Predict(one)[0].deviation, first / 1.4);
  EXPECT_GT(wrong.Predict(one)[0].deviation, first * 1.4);
}

}  // namespace
}  // namespace ember::tune
