#include "tools/lib/cli/flags.h"

#include <cstdio>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/lib/cli/command_line_error.h"

namespace ember::tools {
namespace {

using ::testing::ElementsAre;

class FlagsTest : public ::testing::Test {
 protected:
  FlagsTest() : flags_("vm-test", "MODEL [flags]", "Tests flags.") {
    flags_.Positional("MODEL", 1, 2, &models_);
    flags_.Add("o", &output_, "FILE", "Output.");
    flags_.Add("dump-after", &dump_, "PASS", "Dump.");
    flags_.Add("runs", &runs_, "N", "Runs.");
    flags_.Add("rtol", &rtol_, "X", "Tolerance.");
    flags_.Add("profile", &profile_, "Profile.");
    flags_.Add("input", &inputs_, "SPEC", "Inputs.\nSecond line.");
    flags_.AddChoice("tier", &tier_, {"0", "auto"}, "Tier.");
    flags_.Example("vm-test a.onnx");
  }
  std::string Error(const std::vector<std::string>& arguments) {
    const Status status = flags_.Parse(arguments);
    return std::string(status.message());
  }

  Flags flags_;
  std::vector<std::string> models_, inputs_;
  std::string output_, dump_, tier_ = "auto";
  int64_t runs_ = 30;
  double rtol_ = 0.001;
  bool profile_ = false;
};

TEST_F(FlagsTest, ParsesEveryKind) {
  EXPECT_EQ(Error({"a.onnx", "-o", "x", "--dump-after=all", "--runs", "7",
                   "--rtol=1e-5", "--profile", "--input=a=1", "--input", "b=2",
                   "--tier=0"}),
            "");
  EXPECT_THAT(models_, ElementsAre("a.onnx"));
  EXPECT_EQ(output_, "x");
  EXPECT_EQ(dump_, "all");
  EXPECT_EQ(runs_, 7);
  EXPECT_EQ(rtol_, 1e-5);
  EXPECT_TRUE(profile_);
  EXPECT_THAT(inputs_, ElementsAre("a=1", "b=2"));
  EXPECT_EQ(tier_, "0");
}

TEST_F(FlagsTest, OneLetterWithOneDashOrTwo) {
  for (const char* spelling : {"-o=x", "--o=x"}) {
    output_.clear();
    EXPECT_EQ(Error({"a", spelling}), "");
    EXPECT_EQ(output_, "x");
  }
  EXPECT_NE(Error({"a", "-runs=1"}), "");
}

TEST_F(FlagsTest, DoubleDashEndsFlags) {
  EXPECT_EQ(Error({"a", "--", "--runs"}), "");
  EXPECT_THAT(models_, ElementsAre("a", "--runs"));
}

TEST_F(FlagsTest, OptionalValues) {
  std::string folder;
  flags_.AddOptional("shadow", &folder, "FOLDER", "here", "Checks.");
  EXPECT_EQ(Error({"a.onnx"}), "");
  EXPECT_EQ(folder, "");
  EXPECT_EQ(Error({"--shadow", "a.onnx"}), "");
  EXPECT_EQ(folder, "here");
  EXPECT_THAT(models_, ElementsAre("a.onnx"));
  EXPECT_EQ(Error({"--shadow=there", "a.onnx"}), "");
  EXPECT_EQ(folder, "there");
  EXPECT_EQ(Error({"--shadow=", "a.onnx"}),
            "--shadow: expected a value, found nothing");
  EXPECT_NE(flags_.Help().find("--shadow[=FOLDER]"), std::string::npos);
}

TEST_F(FlagsTest, StandaloneNeedsNoPositionalValues) {
  bool list = false;
  flags_.AddStandalone("list", &list, "List.");
  EXPECT_EQ(Error({"--list"}), "");
  EXPECT_TRUE(list);
  EXPECT_EQ(Error({"--list=false"}),
            "expected MODEL, found nothing (see vm-test --help)");
  std::string text;
  flags_.AddStandalone("text", &text, "TEXT", "Measures a text.");
  EXPECT_EQ(Error({"--text=x"}), "");
  EXPECT_EQ(text, "x");
  EXPECT_EQ(Error({"--text="}), "--text: expected a value, found nothing");
}

TEST_F(FlagsTest, BoolCanBeSwitchedOff) {
  EXPECT_EQ(Error({"a", "--profile", "--profile=false"}), "");
  EXPECT_FALSE(profile_);
}

TEST_F(FlagsTest, ErrorsAreOneLine) {
  EXPECT_EQ(Error({}), "expected MODEL, found nothing (see vm-test --help)");
  EXPECT_EQ(Error({"a", "b", "c"}),
            "unexpected argument 'c' (see vm-test --help)");
  EXPECT_EQ(Error({"a", "--inptu=1"}),
            "unknown flag --inptu; did you mean --input?");
  EXPECT_EQ(Error({"a", "--frobnicate"}),
            "unknown flag --frobnicate (see vm-test --help)");
  EXPECT_EQ(Error({"a", "-runs", "3"}),
            "unknown flag -runs; did you mean --runs?");
  EXPECT_EQ(Error({"a", "-v"}), "unknown flag -v; did you mean --version?");
  EXPECT_EQ(Error({"a", "--quiet"}),
            "unknown flag --quiet; notes go to stderr, and 2>/dev/null hides "
            "them");
  EXPECT_EQ(
      Error({"a", "--runs=many"}),
      "--runs: expected a whole number that is not negative, found 'many'");
  EXPECT_EQ(Error({"a", "--runs"}),
            "--runs: expected N after it, found the end of the command line");
  EXPECT_EQ(Error({"a", "--rtol=nan"}),
            "--rtol: expected a number that is not negative, found 'nan'");
  EXPECT_EQ(Error({"a", "--tier=9"}),
            "--tier: expected one of 0, auto, found '9'");
  EXPECT_EQ(Error({"a", "--profile=yes"}),
            "--profile: expected true or false, found 'yes'");
  EXPECT_EQ(Error({"a", "-o="}), "-o: expected a value, found nothing");
}

TEST_F(FlagsTest, ExitStatus) {
  const auto run = [this](std::vector<const char*> arguments,
                          const std::function<Status()>& body) {
    arguments.insert(arguments.begin(), "vm-test");
    return RunTool(static_cast<int>(arguments.size()),
                   const_cast<char**>(arguments.data()), flags_, body);
  };
  const auto fine = [] { return OkStatus(); };
  EXPECT_EQ(run({"a"}, fine), 0);
  EXPECT_EQ(run({"a"}, [] { return DataLossError("a file"); }), 1);
  EXPECT_EQ(run({"a"}, [] { return CommandLineError("--x: wrong"); }), 2);
  EXPECT_EQ(run({}, fine), 2);
  EXPECT_EQ(run({"a", "--frobnicate"}, fine), 2);
  for (const char* flag : {"-h", "--help", "--version"}) {
    const auto never = []() -> Status { std::abort(); };
    EXPECT_EQ(run({flag}, never), 0) << flag;
  }
}

TEST_F(FlagsTest, OutputThatIsLostIsAnError) {
  const auto print = [this] {
    if (std::freopen("/dev/full", "w", stdout) == nullptr) std::exit(9);
    const char* arguments[] = {"vm-test", "a"};
    std::exit(RunTool(2, const_cast<char**>(arguments), flags_, [] {
      std::printf("a result\n");
      return OkStatus();
    }));
  };
  EXPECT_EXIT(print(), testing::ExitedWithCode(1),
              "^vm-test: cannot write to stdout: No space left on device\n$");
}

TEST_F(FlagsTest, NoMemoryIsOneLine) {
  const auto run = [this](const std::function<Status()>& body) {
    const char* arguments[] = {"vm-test", "a"};
    return RunTool(2, const_cast<char**>(arguments), flags_, body);
  };
  EXPECT_EXIT(
      static_cast<void>(run([]() -> Status { throw std::bad_alloc(); })),
      testing::ExitedWithCode(1), "^vm-test: out of memory\n$");
}

TEST_F(FlagsTest, WhatFailsIsOneLine) {
  const char* arguments[] = {"vm-test", "a"};
  EXPECT_EXIT(std::exit(RunTool(2, const_cast<char**>(arguments), flags_,
                                [] { return DataLossError("a\n\x1b[31mb"); })),
              testing::ExitedWithCode(1), "^vm-test: a.x0a.x1b.31mb\n$");
}

TEST_F(FlagsTest, HelpNamesEveryFlagWithItsDefault) {
  EXPECT_EQ(flags_.Help(),
            "Usage: vm-test MODEL [flags]\n\nTests flags.\n\nFlags:\n"
            "  -o FILE                 Output.\n"
            "  --dump-after=PASS       Dump.\n"
            "  --runs=N                Runs. Default: 30.\n"
            "  --rtol=X                Tolerance. Default: 0.001.\n"
            "  --profile               Profile.\n"
            "  --input=SPEC            Inputs.\n"
            "                          Second line.\n"
            "  --tier=0|auto           Tier. Default: auto.\n"
            "\nExamples:\n  vm-test a.onnx\n");
}

TEST_F(FlagsTest, GroupsHaveTitlesInTheOrderOfTheirFirstUse) {
  bool values[5] = {};
  Flags flags("vm-test", "MODEL", "Tests.");
  flags.Group("Inputs");
  flags.Add("first", &values[0], "One.");
  flags.Group("Results");
  flags.Add("second", &values[1], "Two.");
  flags.Group("Inputs");
  flags.Add("third", &values[2], "Three.");
  flags.Group("");
  flags.Add("fourth", &values[3], "Four.");
  flags.Group("Empty");
  const std::string help = flags.Help();
  EXPECT_EQ(help.substr(0, help.find("\nExamples")),
            "Usage: vm-test MODEL\n\nTests.\n\nFlags:\n"
            "  --fourth                Four.\n"
            "\nInputs:\n"
            "  --first                 One.\n"
            "  --third                 Three.\n"
            "\nResults:\n"
            "  --second                Two.\n");
}

}  // namespace
}  // namespace ember::tools
