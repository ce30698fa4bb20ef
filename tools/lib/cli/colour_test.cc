#include "tools/lib/cli/colour.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

// Opens a pseudo-terminal, which a program cannot distinguish from a real one.
class ColourTest : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    master_ = posix_openpt(O_RDWR | O_NOCTTY);
    ASSERT_GE(master_, 0);
    ASSERT_EQ(grantpt(master_), 0);
    ASSERT_EQ(unlockpt(master_), 0);
    terminal_ = std::fopen(ptsname(master_), "w");
    ASSERT_NE(terminal_, nullptr);
  }
  void TearDown() override {
    if (terminal_ != nullptr) std::fclose(terminal_);
    close(master_);
  }

  int master_ = -1;
  std::FILE* terminal_ = nullptr;
};

TEST_F(ColourTest, OnlyOnTerminals) {
  EXPECT_EQ(Coloured("x", Colour::kRed, terminal_), "\033[1;31mx\033[0m");
  EXPECT_EQ(Coloured("x", Colour::kBold, terminal_), "\033[1mx\033[0m");
  std::FILE* const file = std::tmpfile();
  EXPECT_EQ(Coloured("x", Colour::kRed, file), "x");
  std::fclose(file);
}

TEST_F(ColourTest, TheUserMayRefuse) {
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(HasColours(terminal_));
  setenv("NO_COLOR", "", 1);  // an empty value counts as not set
  EXPECT_TRUE(HasColours(terminal_));
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(HasColours(terminal_));
  unsetenv("TERM");
  EXPECT_FALSE(HasColours(terminal_));
}

}  // namespace
}  // namespace ember::tools
