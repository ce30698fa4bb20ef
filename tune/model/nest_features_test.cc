#include "tune/model/nest_features.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <set>
#include <sstream>
#include <string>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "jit/loops/testing/random_nest.h"
#include "jit/loops/text/text.h"
#include "tune/model/feature_table.h"

namespace ember::tune {
namespace {

constexpr std::string_view kAvx2 =
    "x86_64-linux+avx2+fma+l1=32K+l2=512K+l3=8M+cores=1";

loops::LoopNest Parse(const std::string& text) {
  StatusOr<loops::LoopNest> nest = loops::Parse(text);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  return *std::move(nest);
}

std::vector<float> FeaturesOf(const std::string& text,
                              std::string_view target = kAvx2,
                              std::vector<int64_t> parameters = {}) {
  return NestFeatures(Parse(text), parameters, target);
}

float Get(const std::vector<float>& features, Feature feature) {
  return features[static_cast<size_t>(feature)];
}

// Returns a line "name number" for each chosen feature, in the order of the
// table. All of these features are logarithms; "number" is the number itself,
// rounded, because a float's logarithm gives only five or six digits of it.
std::string Numbers(const std::vector<float>& features,
                    const std::set<Feature>& chosen) {
  std::ostringstream text;
  for (const Feature feature : chosen) {
    const auto i = static_cast<size_t>(feature);
    const double number = std::exp2(static_cast<double>(features[i])) - 1;
    text << FeatureNames()[i] << ' ';
    if (number < 1e5) {
      text << std::llround(number) << '\n';
    } else {
      text << std::setprecision(4) << number << '\n';
    }
  }
  return text.str();
}

using enum Feature;

// A matrix product with a register tile of 4 rows by 2 vectors.
constexpr const char* kTiledProduct = R"(
loops @product(%a: input f32[64, 256], %b: input f32[256, 128],
               %y: output f32[64, 128]) {
  register %acc: f32[4, 2, 8]
  phase t < 16 {
    for j < 8 {
      unroll u < 4 { unroll v < 2 { vector l < 8 { %acc[u, v, l] = 0.0 } } }
      for k < 256 {
        unroll u < 4 {
          unroll v < 2 {
            vector l < 8 {
              %acc[u, v, l] +=
                  %a[t * 4 + u, k] * %b[k, j * 16 + v * 8 + l]
            }
          }
        }
      }
      unroll u < 4 {
        unroll v < 2 {
          vector l < 8 { %y[t * 4 + u, j * 16 + v * 8 + l] = %acc[u, v, l] }
        }
      }
    }
  }
})";

TEST(NestFeatures, CountRegisterTiles) {
  // kTiledProduct has 128 tiles of 256 steps. Each step does 8 vector
  // multiply-adds, loads 4 scalars of %a and 2 vectors of %b, and waits 4
  // cycles for the sums.
  EXPECT_EQ(
      Numbers(FeaturesOf(kTiledProduct),
              {kOperations, kFused, kVectorLoads, kScalarLoads, kVectorStores,
               kGatheredLanes, kIterations, kTasks, kHotTrips, kHotEntries,
               kHotTile, kHotCode, kOperandBytes, kL1Bytes}),
      "operations 4.194e+06\n"
      "operand_bytes 2.294e+05\n"
      "fused 2.621e+05\n"
      "vector_loads 65536\n"
      "scalar_loads 1.311e+05\n"
      "gathered_lanes 0\n"
      "vector_stores 1024\n"
      "iterations 32896\n"
      // Each of the 16 tasks fetches all of %b, which is larger than the first
      // cache, and its own rows of %a once.
      "l1_bytes 2.195e+06\n"
      "tasks 16\n"
      "hot_trips 256\n"
      "hot_entries 128\n"
      "hot_code 14\n"
      "hot_tile 8\n");
  EXPECT_FLOAT_EQ(Get(FeaturesOf(kTiledProduct), kLaneShare), 1);
  EXPECT_FLOAT_EQ(Get(FeaturesOf(kTiledProduct), kHotArithmetic), 1);
}

TEST(NestFeatures, DifferBetweenTargets) {
  const std::vector<float> wide = FeaturesOf(
      kTiledProduct, "x86_64-linux+avx2+fma+avx512f+l1=32K+l2=4M+cores=1");
  const std::vector<float> narrow =
      FeaturesOf(kTiledProduct, "x86_64-linux+l1=32K+l2=512K+cores=1");
  // The product's vector loops have 8 lanes, which fill half of a vector of
  // AVX-512.
  EXPECT_FLOAT_EQ(Get(wide, kLaneUse), 0.5);
  EXPECT_EQ(Numbers(narrow, {kFused, kHotTile}),
            "fused 1.049e+06\nhot_tile 16\n");
  EXPECT_EQ(Get(wide, kSpillRatio),
            Get(FeaturesOf(kTiledProduct), kSpillRatio));
  EXPECT_GT(Get(narrow, kSpillRatio), Get(wide, kSpillRatio));
}

TEST(NestFeatures, CountGathersGuardsAndTails) {
  const std::string nest = R"(
loops @gather<N>(%x: input f32[N, 64], %k: input i32[100],
                 %y: output f32[100]) {
  phase i < 13 {
    vector l < 8 {
      if i * 8 + l < 100 {
        %y[i * 8 + l] = %x[i64(%k[i * 8 + l]), 3]
      }
    }
    for j < 4 {
      if j < 1 { prefetch %x j }
    }
  }
})";
  EXPECT_EQ(Numbers(FeaturesOf(nest, kAvx2, {7}),
                    {kVectorLoads, kGatheredLanes, kVectorStores, kMasked,
                     kGuards, kPrefetches, kIterations, kLoopEntries}),
            "vector_loads 13\n"
            "gathered_lanes 104\n"
            "vector_stores 13\n"
            "masked 39\n"
            "guards 65\n"
            "prefetches 13\n"
            "iterations 52\n"
            "loop_entries 13\n");
}

TEST(NestFeatures, CountChainsOfUpdatesAndDots) {
  const std::string nest = R"(
loops @sums(%a: input u8[512], %b: input i8[512, 8], %x: input f32[1000],
            %y: output i32[8], %z: output f32[1]) {
  register %acc: i32[8]
  register %sum: f32[]
  phase t < 1 {
    vector l < 8 { %acc[l] = 0 }
    for k < 128 {
      vector l < 8 {
        dot q < 4 {
          %acc[l] += i32(%a[k * 4 + q]) * i32(%b[k * 4 + q, l])
        }
      }
    }
    vector l < 8 { %y[l] = %acc[l] }
  }
  phase t < 1 {
    %sum[] = 0.0
    for i < 1000 { %sum[] += %x[i] }
    %z[0] = %sum[]
  }
})";
  const std::vector<float> features = FeaturesOf(nest);
  EXPECT_EQ(Numbers(features, {kDots, kPhases, kHotTrips, kOperations}),
            "operations 9192\n"
            "dots 128\n"
            "phases 2\n"
            "hot_trips 1000\n");
  // The chain of float additions is the slowest part of the body, so its share
  // of the body's cycles is 1.
  EXPECT_FLOAT_EQ(Get(features, kHotChain), 1);
  EXPECT_FLOAT_EQ(Get(features, kHotLaneUse), 0.125);
}

TEST(NestFeatures, DoNotDependOnNames) {
  std::string renamed = kTiledProduct;
  for (size_t at = 0; (at = renamed.find("%acc", at)) != std::string::npos;)
    renamed.replace(at, 4, "%zzz");
  EXPECT_EQ(FeaturesOf(kTiledProduct), FeaturesOf(renamed));
}

TEST(NestFeatures, HaveUniqueNames) {
  EXPECT_EQ(FeatureNames().size(), kFeatureCount);
  EXPECT_EQ(std::set(FeatureNames().begin(), FeatureNames().end()).size(),
            kFeatureCount);
}

// The test only calls NestFeatures for random nests: it checks by itself that
// all features are set and finite.
TEST(NestFeatures, ExistForRandomNests) {
  const SeedRange seeds = TestSeeds(200);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE(ReplayOf(seed, "//tune/model:nest_features_test"));
    const loops::RandomNest random = loops::MakeRandomNest(seed, {});
    for (std::string_view target :
         {kAvx2, std::string_view("vulkan1.3+subgroup32+shared49152")}) {
      EXPECT_EQ(NestFeatures(random.nest, random.parameters, target).size(),
                kFeatureCount);
    }
  }
}

}  // namespace
}  // namespace ember::tune
