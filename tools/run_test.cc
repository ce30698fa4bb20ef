// Tests vm-run by running it as a user does, and checks what it prints about
// kernels: tiers, passes, the kernel cache, profiles and explanations.
#include "gtest/gtest.h"
#include "tools/lib/report/testing/chrome_trace_rules.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

class RunTest : public CliTest {};

TEST_F(RunTest, OneRunCompilesNothing) {
  const Outcome outcome = Run("vm-run model.vmfb --profile --print=none");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("\n0 kernels of "), std::string::npos)
      << outcome.output;
}

TEST_F(RunTest, AutoGivesWhatTheInterpreterGives) {
  const std::string run = "vm-run model.vmfb --shape=image=16x1x28x28 ";
  EXPECT_EQ(Run(run + "--tier=0 --print=none --output=@tier0.npy").exit_status,
            0);
  // If there are few runs, the process ends while kernels are still being
  // compiled. If there are many, kernels replace the interpreter during the
  // runs.
  for (const char* runs : {"10", "50", "400"}) {
    const Outcome outcome = Run(run +
                                "--no-kernel-cache --rtol=1e-4 "
                                "--expected=@tier0.npy --runs=" +
                                runs);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  }
}

TEST_F(RunTest, PassesOfKernelsArePrintedTimedAndLeftOut) {
  const Outcome pipeline = Run("vm-run --print-pipeline");
  EXPECT_EQ(pipeline.exit_status, 0);
  EXPECT_EQ(pipeline.output.find("  1   check-size "), 0u) << pipeline.output;
  EXPECT_EQ(Run("vm-prejit --print-pipeline").output, pipeline.output);
  const std::string run = "vm-run model.vmfb --tier=2 --print=none";
  const Outcome all = Run(run + " --time-passes");
  EXPECT_EQ(all.exit_status, 0);
  EXPECT_NE(all.output.find("| plan-prefetches "), std::string::npos)
      << all.output;
  const Outcome without =
      Run(run + " --time-passes --disable-pass=plan-prefetches");
  EXPECT_EQ(without.exit_status, 0);
  EXPECT_NE(without.output.find("| lower "), std::string::npos);
  EXPECT_EQ(without.output.find("plan-prefetches"), std::string::npos)
      << without.output;
  ExpectError("vm-run model.vmfb --tier=2 --disable-pass=pad-row",
              "vm-run: --disable-pass=pad-row: no such pass can be disabled; "
              "did you mean 'pad-rows'? (see --print-pipeline)",
              2);
  ExpectError("vm-run model.vmfb --tier=2 --disable-pass=lower",
              "vm-run: --disable-pass=lower: no such pass can be disabled "
              "(see --print-pipeline)",
              2);
}

TEST_F(RunTest, KernelsAreWrittenWhereOneAsks) {
  const Outcome dumped =
      Run("vm-run model.vmfb --tier=2 --print=none --dump-kernels=kernels");
  EXPECT_EQ(dumped.exit_status, 0) << dumped.output;
  const std::string files = Run("ls kernels").output;
  for (const char* extension :
       {".schedule", ".lower.loops", ".legalise.loops", ".tier2.loops", ".s"})
    EXPECT_NE(files.find(extension), std::string::npos) << extension;
  const Outcome refused =
      Run("vm-run model.vmfb --tier=2 --dump-kernels=model.vmfb");
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_NE(refused.output.find("--dump-kernels: expected a folder to write "
                                "to, found '"),
            std::string::npos)
      << refused.output;
}

TEST_F(RunTest, TraceAndProfile) {
  const Outcome outcome = Run(
      "vm-run model.vmfb --profile --runs=3 --trace=trace.json --print=none");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("conv1"), std::string::npos) << outcome.output;
  const std::string trace = Read("trace.json");
  EXPECT_TRUE(ChromeTraceProblems(trace).empty())
      << testing::PrintToString(ChromeTraceProblems(trace));
  for (const char* name : {"load the module", "run 1", "run 3",
                           "d0_conv_maximum", "memory of the session, MB"}) {
    EXPECT_NE(trace.find("\"name\": \"" + std::string(name) + "\""),
              std::string::npos)
        << name;
  }
}

TEST_F(RunTest, TracesHaveKernelsAndTheirFirstCalls) {
  const Outcome outcome =
      Run("vm-run digits.onnx --tier=2 --runs=2 --trace=trace.json "
          "--print=none");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  const std::string trace = Read("trace.json");
  EXPECT_TRUE(ChromeTraceProblems(trace).empty())
      << testing::PrintToString(ChromeTraceProblems(trace));
  for (const char* name :
       {"import and compile the model", "compile, thread 1",
        "d0_conv_maximum tier 2", "schedule and loop nest", "kernels ready",
        "requests waiting for the compiler"}) {
    EXPECT_NE(trace.find("\"name\": \"" + std::string(name) + "\""),
              std::string::npos)
        << name;
  }
  EXPECT_NE(trace.find("\"ph\": \"f\""), std::string::npos);
}

TEST_F(RunTest, ExplainSaysWhyAndHowFast) {
  const Outcome outcome =
      Run("vm-run model.vmfb --input=1x1x28x28xf32 --tier=0 --explain "
          "--print=none --threads=1");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_EQ(outcome.output.find("1 threads: "), 0u) << outcome.output;
  // The row of the convolution in the table: its output has 28 x 28 points and
  // 8 channels, each value is a sum over a 3 x 3 filter, and bias and ReLU are
  // in the same dispatch.
  EXPECT_NE(outcome.output.find(
                "| 0    | d0_conv_maximum            | 1x28x28x8xf32, sum "
                "of 9   | conv1 (Conv) + relu1 (Relu) "),
            std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("|    10 |"), std::string::npos)
      << "the first of 11 runs is left out";
  const Outcome compiled =
      Run("vm-run model.vmfb --tier=2 --explain --runs=2 --print=none");
  EXPECT_NE(compiled.output.find("| 2    | d0_conv_maximum "),
            std::string::npos)
      << compiled.output;
}

TEST_F(RunTest, KernelsAreKeptForLaterProcesses) {
  const auto line = [](const std::string& environment,
                       const std::string& flags) {
    const Outcome outcome =
        Run("env -u EMBER_CACHE HOME=" + Folder() + "/home " + environment +
            " vm-run model.vmfb --tier=2 --print=none --profile " + flags);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
    const size_t begin = outcome.output.find("Code of ");
    EXPECT_NE(begin, std::string::npos) << outcome.output;
    return outcome.output.substr(begin,
                                 outcome.output.find('\n', begin) - begin);
  };
  const std::string compiled =
      "Code of 5 kernels was compiled, of 0 read from the cache, and of 0 "
      "shared with another kernel.";
  const std::string loaded =
      "Code of 0 kernels was compiled, of 5 read from the cache, and of 0 "
      "shared with another kernel.";
  EXPECT_EQ(line("", ""), compiled);
  EXPECT_EQ(line("", ""), loaded);
  EXPECT_EQ(line("", "--no-kernel-cache"), compiled);
  EXPECT_EQ(line("EMBER_CACHE=", ""), compiled);
  EXPECT_EQ(line("", "--kernel-cache=other"), compiled);
  EXPECT_EQ(line("EMBER_CACHE=other", ""), loaded);
  EXPECT_EQ(line("XDG_CACHE_HOME=" + Folder() + "/home/.cache", ""), loaded);
  EXPECT_EQ(line("XDG_CACHE_HOME=" + Folder() + "/xdg", ""), compiled);
  EXPECT_EQ(line("XDG_CACHE_HOME=" + Folder() + "/xdg", ""), loaded);
  // The secret key that protects the cache is in the state folder. Another
  // folder means another key, so cached kernels are not trusted and are
  // compiled again.
  EXPECT_EQ(line("XDG_STATE_HOME=" + Folder() + "/state", ""), compiled);
}

TEST_F(RunTest, RunsWithoutAKernelCacheThatCannotBeUsed) {
  const std::string run = "vm-run model.vmfb --input=1x1x28x28xf32 --tier=2 ";
  const Outcome usual = Run(run + "--no-kernel-cache");
  EXPECT_EQ(usual.exit_status, 0) << usual.output;
  const Outcome outcome =
      Run("HOME=" + Folder() + " " + run + "--kernel-cache=/proc/none");
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.output,
            "running without kernel cache: cannot open folder '/proc/none': "
            "No such file or directory\n" +
                usual.output);
}

}  // namespace
}  // namespace ember::tools
