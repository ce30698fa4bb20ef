#include "tools/lib/cli/show_progress.h"

#include <cstdio>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ember::tools {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

// Returns the text that ShowProgress writes for a work of two steps, including
// its end.
std::string Shown(const std::string& how) {
  std::FILE* const file = std::tmpfile();
  {
    const std::unique_ptr<Progress> progress = ShowProgress(how, file);
    if (progress != nullptr) {
      EXPECT_TRUE(progress->Report({"import", "Conv\n\"x\"", 0, 0}));
      EXPECT_TRUE(progress->Report({"compile", "fold", 3, 18}));
    }
  }
  EXPECT_EQ(std::fseek(file, 0, SEEK_SET), 0);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file))
    text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

TEST(ShowProgress, JsonIsALinePerStep) {
  EXPECT_THAT(
      Shown("json"),
      MatchesRegex(
          "\\{\"stage\": \"import\", \"item\": \"Conv\\\\u000a\\\\\"x\\\\\"\", "
          "\"done\": 0, \"total\": 0, \"ms\": [0-9.]+\\}\n"
          "\\{\"stage\": \"compile\", \"item\": \"fold\", \"done\": 3, "
          "\"total\": 18, \"ms\": [0-9.]+\\}\n"));
}

TEST(ShowProgress, BarIsOneLineAndGoneAtTheEnd) {
  const std::string text = Shown("bar");
  EXPECT_THAT(text, HasSubstr("import  0  Conv"));
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\033[K")) << text;
}

TEST(ShowProgress, NothingWhereNobodyLooks) {
  EXPECT_EQ(Shown("off"), "");
  // The output goes to a file, which is not a terminal, so "auto" shows
  // nothing.
  EXPECT_EQ(Shown("auto"), "");
}

}  // namespace
}  // namespace ember::tools
