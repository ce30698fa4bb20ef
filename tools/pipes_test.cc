// Tests the tools as parts of a pipe: files named "-", texts as models, JSON
// output for programs, and lines of progress.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class PipesTest : public CliTest {
 protected:
  // Runs a command whose stderr goes to the file "errors".
  static nlohmann::json Json(const std::string& command) {
    const Outcome outcome = Run("bash -c '" + command + " 2>errors'");
    EXPECT_EQ(outcome.exit_status, 0) << Read("errors");
    nlohmann::json json = nlohmann::json::parse(outcome.output, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << command << "\n" << outcome.output;
    return json;
  }
};

constexpr char kScale[] = R"(// Rows times numbers.
dispatch @scale<N>(%x: f32[N, 2], %s: f32[N]) -> (%y: f32[N, 2]) {
  %y[i, j] = %x[i, j] * %s[i]
}
)";

TEST_F(PipesTest, ModelsGoThroughPipes) {
  const std::string run = "vm-run - --input=1x1x28x28xf32 --print=full";
  const std::string expected =
      Run("vm-run model.vmfb --input=1x1x28x28xf32 --print=full").output;
  EXPECT_EQ(Run("bash -c 'cat digits.onnx | " + run + "'").output, expected);
  EXPECT_EQ(Run("bash -c '" + run + " < digits.onnx'").output, expected);
  EXPECT_EQ(
      Run("bash -c 'vm-compile digits.onnx -o - 2>log | " + run + "'").output,
      expected);
  // The module takes stdout (-o -), so the text that vm-compile usually prints
  // there goes to stderr (the file log).
  EXPECT_THAT(Read("log"), StartsWith("-: 5 dispatches"));
  EXPECT_EQ(
      Run("bash -c 'vm-compile - -o piped.vmfb < digits.onnx >log'").output,
      "");
  EXPECT_EQ(
      Run("bash -c 'vm-compile digits.onnx -o - > piped.vmfb 2>log'").output,
      "");
  EXPECT_EQ(Run("vm-run piped.vmfb --input=1x1x28x28xf32 --print=full").output,
            expected);
}

TEST_F(PipesTest, TensorsGoThroughPipes) {
  EXPECT_EQ(Run("vm-run model.vmfb --input=1x1x28x28xf32 --print=none "
                "--output=@p.npy")
                .output,
            "");
  ASSERT_EQ(Run("bash -c 'head -c 3136 /dev/zero > zeros.bin'").exit_status, 0);
  const std::string zeros =
      Run("vm-run model.vmfb --input=1x1x28x28xf32=0 --print=full").output;
  EXPECT_EQ(Run("bash -c 'cat zeros.bin | vm-run model.vmfb "
                "--input=image=1x1x28x28xf32=@- --print=full'")
                .output,
            zeros);
  // The first run writes its results to stdout as a file, and the second run
  // reads them from the pipe and compares its own with them.
  EXPECT_EQ(Run("bash -c 'vm-run model.vmfb --input=1x1x28x28xf32 --output=@- "
                "2>log | vm-run model.vmfb --input=1x1x28x28xf32 --print=none "
                "--expected=@-'")
                .output,
            "probabilities is as expected; largest difference 0\n");
  EXPECT_THAT(Read("log"), StartsWith("probabilities: 1x10xf32"));
}

TEST_F(PipesTest, MistakesWithStreams) {
  ExpectError("bash -c 'cat digits.onnx | vm-run - --input=@-'",
              "vm-run: MODEL: expected one file named -, which is stdin, "
              "found two; --input is the other",
              2);
  ExpectError(
      "bash -c 'vm-run model.vmfb --output=@- --trace=- | cat; exit "
      "${PIPESTATUS[0]}'",
      "vm-run: --output: expected one file named -, which is stdout, found "
      "two; "
      "--trace is the other",
      2);
  ExpectError("bash -c 'echo text | vm-run model.vmfb --input=@-'",
              "vm-run: '@-': expected a NumPy file or an ONNX tensor on stdin, "
              "found something else (raw data needs its type: 2x3xf32=@-)");
  ExpectError("vm-prejit model.vmfb --target=host --emit=shared -o -",
              "vm-prejit: -o: expected the name of a file with --emit=shared, "
              "found -",
              2);
}

TEST_F(PipesTest, DispatchesRunLikeModels) {
  Write("scale.dispatch", kScale);
  const std::string inputs =
      " --input=x=2x2xf32=1,2,3,4 --input=s=2xf32=10,100 --print=full";
  const std::string expected = "y: 2x2xf32 = [[10, 20],\n [300, 400]]\n";
  EXPECT_EQ(Run("vm-run scale.dispatch" + inputs).output, expected);
  EXPECT_EQ(Run("vm-run scale.dispatch --tier=2" + inputs).output, expected);
  EXPECT_EQ(
      Run("vm-compile scale.dispatch --shape=x=2x2 -o scale.vmfb").exit_status,
      0);
  EXPECT_EQ(Run("vm-run scale.vmfb" + inputs).output, expected);
  // The text that vm-dump prints must be a valid input of vm-run.
  EXPECT_EQ(Run("bash -c 'vm-dump scale.vmfb | vm-run -" + inputs + "'").output,
            expected);
  ExpectError("vm-run scale.dispatch --entry=skale",
              "vm-run: scale.dispatch: --entry: expected one of scale, found "
              "'skale'; did you mean 'scale'?");
}

TEST_F(PipesTest, RunsPrintJson) {
  const nlohmann::json run = Json(
      "vm-run model.vmfb --input=1x1x28x28xf32 --print=json --runs=3 "
      "--profile --explain --tier=0");
  EXPECT_EQ(run.at("model"), "model.vmfb");
  EXPECT_EQ(run.at("runs_ms").size(), 3u);
  const nlohmann::json& result = run.at("results").at(0);
  EXPECT_EQ(result.at("name"), "probabilities");
  EXPECT_EQ(result.at("dims"), nlohmann::json({1, 10}));
  double sum = 0;
  for (const nlohmann::json& element : result.at("elements"))
    sum += element.get<double>();
  EXPECT_NEAR(sum, 1, 1e-5);
  ASSERT_EQ(run.at("profile").size(), 5u);
  ASSERT_EQ(run.at("explain").size(), 5u);
  double share = 0;
  for (const nlohmann::json& dispatch : run.at("profile")) {
    EXPECT_EQ(dispatch.at("calls"), 2);
    EXPECT_EQ(dispatch.at("tier_0_calls"), 2);
    share += dispatch.at("share").get<double>();
  }
  EXPECT_NEAR(share, 1, 1e-4);
  for (const nlohmann::json& dispatch : run.at("explain")) {
    EXPECT_EQ(dispatch.at("tier"), "0");
    EXPECT_GT(dispatch.at("roofline_us").get<double>(), 0);
  }
  const nlohmann::json profile =
      Json("vm-run model.vmfb --random-inputs --profile=json");
  EXPECT_EQ(profile.at("profile").size(), 5u);
  EXPECT_EQ(profile.at("results").at(0).count("elements"), 0u);
  EXPECT_EQ(profile.count("explain"), 0u);
}

TEST_F(PipesTest, SignatureAsJson) {
  const nlohmann::json signature =
      Json("vm-dump model.vmfb --part=signature --emit=json");
  const nlohmann::json& program = signature.at("programs").at(0);
  EXPECT_EQ(program.at("inputs").at(0).at("name"), "image");
  EXPECT_EQ(program.at("inputs").at(0).at("dims"),
            nlohmann::json({"N", 1, 28, 28}));
  EXPECT_EQ(program.at("results").at(0).at("type"), "f32");
}

// Returns the names of the stages that a command reports with --progress=json,
// in order.
std::string Stages(const std::string& lines) {
  std::string stages, last;
  size_t begin = 0;
  while (begin < lines.size()) {
    const size_t end = lines.find('\n', begin);
    const nlohmann::json event =
        nlohmann::json::parse(lines.substr(begin, end - begin), nullptr, false);
    begin = end + 1;
    if (!event.is_object()) continue;
    EXPECT_GE(event.at("done"), 0);
    const std::string stage = event.at("stage");
    if (stage != last) stages += (stages.empty() ? "" : " ") + stage;
    last = stage;
  }
  return stages;
}

TEST_F(PipesTest, EveryToolReportsProgress) {
  const std::string flags = " --progress=json --random-inputs";
  EXPECT_EQ(
      Stages(Run("vm-compile digits.onnx -o p.vmfb --progress=json").output),
      "load import compile write");
  EXPECT_EQ(Stages(Run("vm-run digits.onnx --tier=0" + flags).output),
            "load import compile run");
  EXPECT_EQ(Stages(Run("vm-run model.vmfb --tier=2" + flags).output),
            "load run kernels");
  EXPECT_EQ(Stages(Run("vm-prejit model.vmfb --target=host -o q.vmfb "
                       "--progress=json")
                       .output),
            "load kernels write");
  EXPECT_EQ(Stages(Run("vm-bench model.vmfb --tier=0 --runs=3" + flags).output),
            "load warm-up run");
  EXPECT_EQ(Stages(Run("vm-dump digits.onnx --progress=json").output),
            "load import compile");
}

// The model fails for dims of 1. The error message must say that --shape gives
// other dims.
TEST_F(PipesTest, ErrorsOfGuessedDimsNameShape) {
  Write("pairs.dispatch",
        "dispatch @pairs<N>(%x: f32[N]) -> (%y: f32[N - 2]) {\n"
        "  %y[i] = %x[i] + %x[i + 2]\n}\n");
  const Outcome compiled = Run("vm-run pairs.dispatch");
  EXPECT_EQ(compiled.exit_status, 1);
  const auto module = R"(module "m" from "test"
dispatch @pairs<N>(%x: f32[N]) -> (%y: f32[N - 2]) {
  %y[i] = %x[i] + %x[i + 2]
}
program main<N>(x: f32[N]) -> (y: f32[N]) {
  b0 = input x
  i0 = input_dim x, 0
  i1 = integer 64
  b1 = allocate i1
  dispatch @pairs(i0; b0 -> b1)
  result y = b1 [i0]
  return
}
)";
  Write("pairs.txt", module);
  EXPECT_THAT(Run("vm-run pairs.txt").output,
              HasSubstr("(open dims of random inputs are 1; --shape=x=?, with "
                        "numbers for ?, gives others)"));
  EXPECT_THAT(Run("vm-run pairs.txt --shape=x=1").output,
              ::testing::Not(HasSubstr("open dims")));
}

}  // namespace
}  // namespace ember::tools
