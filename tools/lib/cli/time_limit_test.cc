#include "tools/lib/cli/time_limit.h"

#include <unistd.h>

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

class TimeLimitDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(TimeLimitDeathTest, EndsTheProcess) {
  const auto wait = [] {
    const TimeLimit limit(0.01, "too long\n");
    while (true) pause();
  };
  EXPECT_EXIT(wait(), ::testing::ExitedWithCode(1), "^too long\n$");
}

TEST_F(TimeLimitDeathTest, WhatIsDoneInTimeIsNotEnded) {
  const auto work = [] {
    {
      const TimeLimit limit(3600, "too long\n");
    }
    {
      const TimeLimit none(0, "too long\n");
    }
    _exit(7);
  };
  EXPECT_EXIT(work(), ::testing::ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace ember::tools
