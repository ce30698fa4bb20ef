// Tests that there is a recipe for every operator that ONNX publishes.
#include <gtest/gtest.h>

#include "tests/onnx/coverage/coverage_page.h"

namespace ember::tests {
namespace {

TEST(ProbeRecipes, EveryPublishedOperatorIsTried) {
  EXPECT_EQ(UntriedOperators(/*published_only=*/true), "")
      << "add recipes to tests/onnx/coverage/probe_models.cc";
}

}  // namespace
}  // namespace ember::tests
