// Tests vm-generate as a user calls it.
#include <gtest/gtest.h>

#include <string>

#include "frontends/gguf/testing/sample_models.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

class GenerateTest : public CliTest {
 protected:
  void SetUp() override { Write("llama.gguf", gguf::SampleModel("llama")); }
};

// Returns the first line of what a tool prints.
std::string FirstLine(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  return outcome.output.substr(0, outcome.output.find('\n'));
}

TEST_F(GenerateTest, ContinuesASequence) {
  const Outcome outcome =
      Run("vm-generate llama.gguf --ids=1,7,8,9 -n 6 --tier=0");
  const std::string ids = FirstLine(outcome);
  EXPECT_NE(outcome.output.find("tokens/s"), std::string::npos);
  // 17 is the likeliest token of tests/gguf/golden.h.
  EXPECT_TRUE(ids.starts_with("17,")) << ids;
  // The parts of a prompt, the memory of the state and a module do not change
  // the tokens.
  EXPECT_EQ(FirstLine(Run("vm-generate llama.gguf --ids=1,7,8,9 -n 6 --tier=0 "
                          "--chunk=3 --context=64")),
            ids);
  ASSERT_EQ(Run("vm-compile llama.gguf -o llama.vmfb").exit_status, 0);
  EXPECT_EQ(
      FirstLine(Run("vm-generate llama.vmfb --ids=1,7,8,9 -n 6 --tier=0")),
      ids);
  EXPECT_EQ(FirstLine(Run("vm-generate llama.gguf --ids=1,7,8,9 -n 6 --tier=0 "
                          "--stop=17")),
            "17");
}

TEST_F(GenerateTest, PrintsProbabilities) {
  const std::string line = FirstLine(
      Run("vm-generate llama.gguf --ids=1,7,8,9 -n 1 --tier=0 --top=2"));
  EXPECT_TRUE(line.starts_with("[[17, 0.331")) << line;
  // A forced token takes the place of the likeliest one.
  const Outcome forced = Run(
      "vm-generate llama.gguf --ids=1,7,8,9 -n 2 --tier=0 --top=1 --forced=11");
  EXPECT_NE(forced.output.find("\n[[0, 0.273"), std::string::npos)
      << forced.output;
}

TEST_F(GenerateTest, RefusesWrongCommandLines) {
  ExpectError("vm-generate llama.gguf --ids=1,x",
              "vm-generate: --ids: expected ids of tokens such as 1,403,407, "
              "found '1,x'",
              2);
  ExpectError("vm-generate llama.gguf --ids=1,2,3 --context=2 --tier=0",
              "vm-generate: the context is full: expected at most 2 tokens, "
              "found 3; give a larger --context");
  const Outcome other = Run("vm-generate digits.onnx --ids=1 --tier=0");
  EXPECT_EQ(other.exit_status, 1);
  EXPECT_NE(other.output.find("expected a language model"), std::string::npos)
      << other.output;
  const Outcome range = Run("vm-generate llama.gguf --ids=99 --tier=0");
  EXPECT_EQ(range.exit_status, 1) << range.output;
}

}  // namespace
}  // namespace ember::tools
