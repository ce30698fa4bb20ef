#include "tools/lib/cli/compile_limits.h"

#include <unistd.h>

#include <vector>

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

using ::testing::ExitedWithCode;

class CompileLimitsDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// The pointer is volatile, so that the compiler cannot remove the allocation.
void Allocate(size_t bytes) {
  char* volatile memory = new char[bytes];
  memory[0] = 1;
  delete[] memory;
}

TEST_F(CompileLimitsDeathTest, Memory) {
  if (!CompileLimits::LimitsMemory()) GTEST_SKIP() << "a sanitizer's tables";
  EXPECT_EXIT(
      {
        const auto limits =
            CompileLimits::Start({.max_memory = "20M"}, "a.onnx");
        Allocate(1 << 20);
        Allocate(size_t{30} << 20);
        _exit(0);
      },
      ExitedWithCode(1),
      ": a.onnx: expected compiling to take at most 20971520 bytes more "
      "\\(--max-memory\\), found more\n");
}

// The limit must also count memory that is allocated in many small pieces, as
// importers do it.
TEST_F(CompileLimitsDeathTest, MemoryOfManyPieces) {
  if (!CompileLimits::LimitsMemory()) GTEST_SKIP() << "a sanitizer's tables";
  EXPECT_EXIT(
      {
        const auto limits =
            CompileLimits::Start({.max_memory = "20M"}, "a.onnx");
        std::vector<std::vector<char>> pieces;
        while (pieces.size() < 1000000) pieces.emplace_back(100);
        _exit(0);
      },
      ExitedWithCode(1), "--max-memory");
}

TEST_F(CompileLimitsDeathTest, Time) {
  EXPECT_EXIT(
      {
        const auto limits =
            CompileLimits::Start({.max_seconds = 0.05}, "a.onnx");
        while (true) pause();
      },
      ExitedWithCode(1),
      ": a.onnx: expected compiling to take at most 0.05 s "
      "\\(--max-seconds\\), found it still running\n");
}

TEST(CompileLimits, EndWithTheObject) {
  {
    const auto limits = CompileLimits::Start(
        {.max_memory = "20M", .max_seconds = 1000}, "a.onnx");
    ASSERT_TRUE(limits.ok());
    Allocate(1 << 20);
  }
  Allocate(size_t{30} << 20);
}

TEST(CompileLimits, Errors) {
  EXPECT_FALSE(CompileLimits::Start({.max_memory = "x"}, "a.onnx").ok());
  // The memory limit of 1 MB is lower than the stack size of the thread that
  // enforces the time limit. Starting that thread must succeed all the same.
  EXPECT_TRUE(
      CompileLimits::Start({.max_memory = "1M", .max_seconds = 1000}, "a.onnx")
          .ok());
  EXPECT_FALSE(CompileLimits::Start({.max_seconds = -1}, "a.onnx").ok());
}

}  // namespace
}  // namespace ember::tools
