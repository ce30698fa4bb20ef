// docs/onnx-coverage.md is what the operator table says now.
#include "tests/onnx/coverage/coverage_page.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/file.h"

namespace ember::tests {
namespace {

TEST(CoveragePage, IsFresh) {
  StatusOr<std::string> page = ReadFile("docs/onnx-coverage.md");
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  std::istringstream fresh(CoveragePage()), stored(*page);
  std::string expected, found;
  while (std::getline(fresh, expected)) {
    ASSERT_TRUE(std::getline(stored, found)) << "the page ends early";
    ASSERT_EQ(found, expected) << "run ./dev coverage-page";
  }
  EXPECT_FALSE(std::getline(stored, found)) << "the page goes on: " << found;
}

TEST(CoveragePage, EveryPublishedOperatorIsTried) {
  EXPECT_EQ(UntriedOperators(/*published_only=*/true), "")
      << "add recipes to tests/onnx/coverage/probe_models.cc";
}

}  // namespace
}  // namespace ember::tests
