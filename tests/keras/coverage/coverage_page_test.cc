// docs/keras-coverage.md is what the operator table says now.
#include "tests/keras/coverage/coverage_page.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"

namespace ember::tests {
namespace {

TEST(KerasCoveragePage, IsFresh) {
  const StatusOr<std::string> page = ReadFile("docs/keras-coverage.md");
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  EXPECT_EQ(*page, KerasCoveragePage()) << "run ./dev coverage-page";
}

}  // namespace
}  // namespace ember::tests
