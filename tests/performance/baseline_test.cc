#include "tests/performance/baseline.h"

#include "gtest/gtest.h"

namespace ember::tests {
namespace {

TEST(Baseline, WhatIsPrintedCanBeRead) {
  Baseline baseline;
  baseline.machine = "A Processor @ 2 GHz, x86_64-linux+avx2";
  baseline.Set({"one", 0.25, "abc"});
  baseline.Set({"other", 1.5, "abc"});
  baseline.Set({"one", 0.5, "def"});
  const std::string text = baseline.Print();
  EXPECT_EQ(text,
            "ember speeds 1\n"
            "machine A Processor @ 2 GHz, x86_64-linux+avx2\n"
            "one 0.5 at def\n"
            "other 1.5 at abc\n");
  const StatusOr<Baseline> read = Baseline::Parse(text);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->Print(), text);
  EXPECT_EQ(read->machine, baseline.machine);
  ASSERT_NE(read->Find("one"), nullptr);
  EXPECT_EQ(read->Find("one")->speed, 0.5);
  EXPECT_EQ(read->Find("none"), nullptr);
}

TEST(Baseline, OtherFilesAreRefusedWithTheLine) {
  const auto error = [](const char* text) {
    return Baseline::Parse(text).status().ToString();
  };
  EXPECT_NE(error("").find("line 1: expected 'ember speeds 1', found ''"),
            std::string::npos);
  EXPECT_NE(error("ember speeds 1\nx\n").find("line 2: expected 'machine'"),
            std::string::npos);
  for (const char* row :
       {"one", "one 1", "one x at abc", "one 0 at abc", "one 1 at abc d", ""}) {
    EXPECT_NE(
        error(("ember speeds 1\nmachine m\n" + std::string(row) + "\n").c_str())
            .find("line 3: expected 'MODEL SPEED at VERSION', found '" +
                  std::string(row) + "'"),
        std::string::npos)
        << row;
  }
}

}  // namespace
}  // namespace ember::tests
