#include "tools/lib/cli/command_line_error.h"

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

TEST(CommandLineErrorTest, IsKnownWithAContext) {
  const Status error = CommandLineError("--hot: expected 1, found 0");
  EXPECT_TRUE(IsCommandLineError(error));
  EXPECT_TRUE(IsCommandLineError(error.WithContext("a.vmfb")));
  EXPECT_FALSE(IsCommandLineError(InvalidArgumentError("a.vmfb: damaged")));
  EXPECT_FALSE(IsCommandLineError(OkStatus()));
}

TEST(CommandLineErrorTest, MarksErrorsOfOthers) {
  EXPECT_TRUE(AsCommandLineError(OkStatus()).ok());
  EXPECT_EQ(*AsCommandLineError(StatusOr<int>(3)), 3);
  const StatusOr<int> marked =
      AsCommandLineError(StatusOr<int>(NotFoundError("no 'x'")));
  EXPECT_EQ(marked.status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(IsCommandLineError(marked.status()));
}

}  // namespace
}  // namespace ember::tools
