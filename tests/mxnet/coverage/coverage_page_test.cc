// docs/mxnet-coverage.md is what the operator table says now.
#include "tests/mxnet/coverage/coverage_page.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"

namespace ember::tests {
namespace {

TEST(MxnetCoveragePage, IsFresh) {
  const StatusOr<std::string> page = ReadFile("docs/mxnet-coverage.md");
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  EXPECT_EQ(*page, MxnetCoveragePage()) << "run ./dev coverage-page";
}

}  // namespace
}  // namespace ember::tests
