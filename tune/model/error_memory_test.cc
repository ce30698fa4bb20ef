#include "tune/model/error_memory.h"

#include <vector>

#include "gtest/gtest.h"

namespace ember::tune {
namespace {

TEST(ErrorMemory, ExpectsNothingAtFirst) {
  ErrorMemory errors(0.5);
  const std::vector<float> anywhere = {1, 2, 3};
  EXPECT_EQ(errors.At(anywhere).mean, 0);
  EXPECT_EQ(errors.At(anywhere).deviation, 0.5);
}

TEST(ErrorMemory, ExpectsTheErrorsOfSimilarCandidates) {
  ErrorMemory errors(0.5);
  const std::vector<float> low = {0, 0}, high = {40, 0};
  for (int i = 0; i < 4; ++i) {
    errors.Add(low, -0.4);
    errors.Add(high, 0.3);
  }
  errors.Learn();
  EXPECT_NEAR(errors.At(low).mean, -0.4, 0.05);
  EXPECT_NEAR(errors.At(high).mean, 0.3, 0.05);
  EXPECT_LT(errors.At(low).deviation, 0.3);
  const std::vector<float> near_low = {1, 0}, between = {20, 0};
  EXPECT_LT(errors.At(near_low).mean, -0.2);
  EXPECT_NEAR(errors.At(between).mean, 0, 0.02);
  EXPECT_GT(errors.At(between).deviation, 0.45);
}

TEST(ErrorMemory, ForgetsTheOldest) {
  ErrorMemory errors(0.5);
  const std::vector<float> old = {0, 0};
  errors.Add(old, 0.4);
  for (size_t i = 0; i < ErrorMemory::kMaxErrors; ++i)
    errors.Add(std::vector<float>{1000, static_cast<float>(20 * i)}, 0.1);
  errors.Learn();
  EXPECT_NEAR(errors.At(old).mean, 0, 1e-6);
}

}  // namespace
}  // namespace ember::tune
