#include "tests/random_models/ort_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ember::tests {
namespace {

using ::testing::HasSubstr;

// Starts an OrtProcess that runs this shell script as `node`, in place of the
// program that runs ONNX Runtime.
StatusOr<std::unique_ptr<OrtProcess>> StartWith(const std::string& script) {
  const std::string folder = ::testing::TempDir() + "/ort_process";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/node") << "#!/bin/sh\n" << script;
  chmod((folder + "/node").c_str(), 0755);
  static const std::string path = std::getenv("PATH");
  setenv("PATH", (folder + ":" + path).c_str(), 1);
  return OrtProcess::Start({.script = "unused", .folder = folder});
}

TEST(OrtProcess, LinesOfOnnxRuntimeAreNoReplies) {
  const auto process = StartWith(
      "echo noise\n"
      "echo ready >&3\n"
      "while read request result level; do\n"
      "  echo 'Warning: Model contains experimental ops: Affine'\n"
      "  echo done\n"
      // The bytes mean "no session" (code 1), with the message "none" of four
      // bytes.
      "  printf '\\001\\0\\0\\0\\0\\0\\0\\0\\004\\0\\0\\0\\0\\0\\0\\0none' > "
      "$result\n"
      "  echo done >&3\n"
      "done\n");
  ASSERT_TRUE(process.ok()) << process.status().ToString();
  const RandomModel model;
  for (int i = 0; i < 3; ++i) {
    const auto results = (*process)->Run({&model});
    ASSERT_TRUE(results.ok()) << results.status().ToString();
    ASSERT_EQ(results->size(), 1u);
    EXPECT_EQ(results->front().outcome, OrtResult::kRefused);
    EXPECT_EQ(results->front().message, "none");
  }
}

// The script says that it is done but writes no results. The models must not
// count as refused by ONNX Runtime, because such models are not compared.
TEST(OrtProcess, MissingResultsAreAnError) {
  const auto process = StartWith(
      "echo ready >&3\n"
      "while read request result level; do\n"
      "  echo done >&3\n"
      "done\n");
  ASSERT_TRUE(process.ok()) << process.status().ToString();
  const RandomModel model;
  const auto results = (*process)->Run({&model, &model});
  ASSERT_FALSE(results.ok());
  EXPECT_THAT(std::string(results.status().message()),
              HasSubstr("expected 'done' and results of 2 models, found 'done' "
                        "and 0"));
}

TEST(OrtProcess, AModelThatCrashesItIsNamed) {
  const auto process = StartWith("echo ready >&3\nread line\nexit 1\n");
  ASSERT_TRUE(process.ok()) << process.status().ToString();
  const RandomModel model;
  const auto results = (*process)->Run({&model, &model});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ(results->back().outcome, OrtResult::kCrash);
}

TEST(OrtProcess, WithoutOnnxRuntime) {
  EXPECT_THAT(std::string(StartWith("exit 1\n").status().message()),
              HasSubstr("it does not start"));
}

}  // namespace
}  // namespace ember::tests
