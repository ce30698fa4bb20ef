#include "tools/lib/cli/show_progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ember::tools {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

std::string Contents(std::FILE* file) {
  // The bar writes to the same file, so pread is used: it does not move the
  // position at which the bar writes next.
  std::string text;
  char buffer[4096];
  for (ssize_t count = 1; count > 0;) {
    count = pread(fileno(file), buffer, sizeof buffer,
                  static_cast<off_t>(text.size()));
    if (count > 0) text.append(buffer, static_cast<size_t>(count));
  }
  return text;
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++count;
  return count;
}

// Returns everything that ShowProgress writes while it displays a work of two
// steps.
std::string Shown(const std::string& how) {
  std::FILE* const file = std::tmpfile();
  {
    const std::unique_ptr<ShownProgress> progress = ShowProgress(how, file);
    if (progress != nullptr) {
      EXPECT_TRUE(progress->Report({"import", "Conv\n\"x\"", 0, 0}));
      EXPECT_TRUE(progress->Report({"compile", "fold", 3, 18}));
    }
  }
  const std::string text = Contents(file);
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
  EXPECT_THAT(text, HasSubstr("import 0  Conv"));
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\033[K")) << text;
}

TEST(ShowProgress, BarIsAsLongAsTheWorkThatIsDone) {
  EXPECT_THAT(Shown("bar"), HasSubstr("import 0  Conv"));
  std::FILE* const file = std::tmpfile();
  const std::unique_ptr<ShownProgress> progress = ShowProgress("bar", file);
  EXPECT_TRUE(progress->Report({"kernels", "conv1", 5, 20}));
  progress->Clear();
  EXPECT_TRUE(progress->Report({"kernels", "conv2", 20, 20}));
  const std::string text = Contents(file);
  EXPECT_THAT(text, HasSubstr("\rkernels [=====>              ] 5/20  conv1"));
  EXPECT_THAT(text, HasSubstr("\r\033[K\rkernels [====================] "
                              "20/20  conv2"));
}

TEST(ShowProgress, BarMovesOnWithoutReports) {
  std::FILE* const file = std::tmpfile();
  {
    const std::unique_ptr<ShownProgress> progress = ShowProgress("bar", file);
    EXPECT_TRUE(progress->Report({"write", "g.vmfb", 0, 0}));
    // Without further reports, the bar's thread redraws the line with a later
    // time.
    while (Count(Contents(file), "write") < 3)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(Contents(file).ends_with("\r\033[K"));
  std::fclose(file);
}

TEST(ShowProgress, LongNamesAreCutBetweenCharacters) {
  std::FILE* const file = std::tmpfile();
  std::string name;
  for (int i = 0; i < 40; ++i) name += "é";
  const std::unique_ptr<ShownProgress> progress = ShowProgress("bar", file);
  EXPECT_TRUE(progress->Report({"import", name, 0, 0}));
  EXPECT_THAT(Contents(file), HasSubstr("éé…  0.0 s"));
}

TEST(ShowProgress, NothingWhereNobodyLooks) {
  EXPECT_EQ(Shown("off"), "");
  // The output goes to a file, which is not a terminal, so "auto" shows
  // nothing.
  EXPECT_EQ(Shown("auto"), "");
}

}  // namespace
}  // namespace ember::tools
