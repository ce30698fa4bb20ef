// Tests that the page named by COVERAGE_PAGE agrees with the frontend's tables.
#include "tests/coverage/coverage_page.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "base/file.h"

namespace ember::tests {
namespace {

TEST(CoveragePage, IsFresh) {
  const char* path = std::getenv("COVERAGE_PAGE");
  ASSERT_NE(path, nullptr);
  StatusOr<std::string> page = ReadFile(path);
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  std::istringstream fresh(CoveragePage()), stored(*page);
  std::string expected, found;
  while (std::getline(fresh, expected)) {
    ASSERT_TRUE(std::getline(stored, found)) << "the page ends early";
    ASSERT_EQ(found, expected) << "run ./dev coverage-page";
  }
  EXPECT_FALSE(std::getline(stored, found)) << "the page goes on: " << found;
}

}  // namespace
}  // namespace ember::tests
