#include "tools/lib/cli/limits.h"

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

std::string Error(const LimitFlags& flags) {
  vm::SessionOptions options;
  return std::string(SetLimits(flags, options).message());
}

TEST(LimitsTest, Amounts) {
  vm::SessionOptions options;
  ASSERT_TRUE(SetLimits({}, options).ok());
  EXPECT_EQ(options.memory_limit, 0);
  EXPECT_EQ(options.work_limit, 0);
  ASSERT_TRUE(
      SetLimits({.max_memory = "1.5G", .max_work = "2M", .max_seconds = 0.5},
                options)
          .ok());
  EXPECT_EQ(options.memory_limit, int64_t{3} << 29);
  EXPECT_EQ(options.work_limit, 2000000);
  EXPECT_EQ(options.max_seconds, 0.5);
  ASSERT_TRUE(SetLimits({.max_memory = "none", .max_work = "7"}, options).ok());
  EXPECT_EQ(options.memory_limit, -1);
  EXPECT_EQ(options.work_limit, 7);
}

TEST(LimitsTest, Errors) {
  EXPECT_EQ(Error({.max_memory = "1x"}),
            "--max-memory: expected a number such as 1000000, 500M or 1.5G, or "
            "none, found '1x'");
  for (const char* text : {"-1", "0", "1GB", "k", "nan", "1e30", "9999999P"})
    EXPECT_NE(Error({.max_work = text}), "") << text;
  EXPECT_EQ(Error({.max_seconds = -1}),
            "--max-seconds: expected a number of at least 0, found -1.000000");
}

}  // namespace
}  // namespace ember::tools
