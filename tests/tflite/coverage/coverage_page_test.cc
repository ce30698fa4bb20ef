// docs/tflite-coverage.md is what the operator table says now.
#include "tests/tflite/coverage/coverage_page.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"

namespace ember::tests {
namespace {

TEST(TfliteCoveragePage, IsFresh) {
  const StatusOr<std::string> page = ReadFile("docs/tflite-coverage.md");
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  EXPECT_EQ(*page, TfliteCoveragePage()) << "run ./dev coverage-page";
}

}  // namespace
}  // namespace ember::tests
