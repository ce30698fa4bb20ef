// docs/tensorflow-coverage.md is what the operator table says now.
#include "tests/tensorflow/coverage/coverage_page.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"

namespace ember::tests {
namespace {

TEST(TensorflowCoveragePage, IsFresh) {
  const StatusOr<std::string> page = ReadFile("docs/tensorflow-coverage.md");
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  EXPECT_EQ(*page, TensorflowCoveragePage()) << "run ./dev coverage-page";
}

}  // namespace
}  // namespace ember::tests
