#include "tools/lib/benchmark/program.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;

TEST(RunProgram, ReturnsWhatItPrints) {
  const auto text = RunProgram({"printf", "%s-%s", "a b", "c"});
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_EQ(*text, "a b-c");
}

TEST(RunProgram, Failures) {
  EXPECT_EQ(RunProgram({"no-such-program-of-ember"}).status().code(),
            StatusCode::kNotFound);
  EXPECT_THAT(RunProgram({"sh", "-c", "exit 3"}).status().ToString(),
              HasSubstr("sh ended with exit status 3"));
  EXPECT_THAT(RunProgram({"sh", "-c", "kill -9 $$"}).status().ToString(),
              HasSubstr("sh crashed: Killed"));
}

}  // namespace
}  // namespace ember::tools
