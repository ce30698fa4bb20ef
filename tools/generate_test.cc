// Tests vm-generate with token ids by running it as a user does. Tests with
// texts and chats are in generate_text_test.cc.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
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
  // The id 17 is the likeliest next token for this model and prompt, as
  // recorded in tests/gguf/golden.h.
  EXPECT_TRUE(ids.starts_with("17,")) << ids;
  // The tokens stay the same if the prompt is processed in chunks, if the state
  // has memory for fewer tokens, and if the model is a compiled module.
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

// The first process compiles the model and keeps its module. The second one
// loads that module instead of compiling.
TEST_F(GenerateTest, KeepsTheModule) {
  const std::string command =
      "vm-generate llama.gguf --ids=1,7,8,9 -n 6 --tier=0 --model-cache=kept";
  const Outcome first = Run(command);
  EXPECT_NE(first.output.find("llama.gguf: compiling once, about 1 s; the "
                              "module is kept in "),
            std::string::npos)
      << first.output;
  const Outcome second = Run(command);
  EXPECT_EQ(second.output.find("compiling"), std::string::npos)
      << second.output;
  const Outcome off =
      Run("vm-generate llama.gguf --ids=1,7,8,9 -n 6 --tier=0 "
          "--model-cache=off");
  EXPECT_EQ(FirstLine(second), FirstLine(off));
}

// Generating from a saved state gives the same tokens as processing the whole
// prompt. The tokens that the state and the prompt have in common are not
// computed again.
TEST_F(GenerateTest, SavesAndLoadsState) {
  const std::string all = "vm-generate llama.gguf --tier=0 --ids=1,7,8,9,";
  const std::string ids = FirstLine(Run(all + "17,11 -n 6"));
  ASSERT_EQ(Run("vm-generate llama.gguf --tier=0 --ids=1,7,8,9 -n 1 "
                "--save-state=prompt.state")
                .exit_status,
            0);
  const Outcome loaded = Run(all + "17,11 -n 6 --load-state=prompt.state");
  EXPECT_EQ(FirstLine(loaded), ids);
  EXPECT_NE(loaded.output.find("prompt of 2 tokens"), std::string::npos)
      << loaded.output;
  // This prompt has only its first two tokens in common with the saved state.
  EXPECT_EQ(FirstLine(Run("vm-generate llama.gguf --tier=0 --ids=1,7,9 -n 6 "
                          "--load-state=prompt.state --context=64")),
            FirstLine(Run("vm-generate llama.gguf --tier=0 --ids=1,7,9 -n 6")));
  ExpectError(
      "vm-generate llama.gguf --tier=0 --ids=1 -n 2 "
      "--load-state=llama.gguf",
      "vm-generate: llama.gguf: expected a state that vm-generate "
      "saved, found another file; save it again");
  std::string damaged = Read("prompt.state");
  damaged[damaged.size() / 2] ^= 1;
  Write("damaged.state", damaged);
  ExpectError(
      "vm-generate llama.gguf --tier=0 --ids=1 -n 9 "
      "--load-state=damaged.state",
      "vm-generate: damaged.state: expected a state that vm-generate "
      "saved, found a damaged one; save it again");
  ExpectError(
      "vm-generate llama.gguf --tier=0 --ids=1,7 -n 1 "
      "--load-state=prompt.state",
      "vm-generate: prompt.state: the context is full: expected at "
      "most 3 tokens, found 4; give a larger --context");
}

TEST_F(GenerateTest, PrintsProbabilities) {
  const std::string line = FirstLine(
      Run("vm-generate llama.gguf --ids=1,7,8,9 -n 1 --tier=0 --top=2"));
  EXPECT_TRUE(line.starts_with("[[17, 0.331")) << line;
  // The flag --forced makes 11 the first generated token, instead of the
  // likeliest one.
  const Outcome forced = Run(
      "vm-generate llama.gguf --ids=1,7,8,9 -n 2 --tier=0 --top=1 --forced=11");
  EXPECT_NE(forced.output.find("\n[[0, 0.273"), std::string::npos)
      << forced.output;
}

TEST_F(GenerateTest, DrawsTokensBySeeds) {
  const std::string command =
      "vm-generate llama.gguf --ids=1,7,8,9 -n 20 --tier=0 --temperature=3 "
      "--top-p=1 --min-p=0 --seed=";
  const std::string ids = FirstLine(Run(command + "7"));
  EXPECT_EQ(FirstLine(Run(command + "7")), ids);
  EXPECT_NE(FirstLine(Run(command + "8")), ids);
  EXPECT_NE(FirstLine(Run("vm-generate llama.gguf --ids=1,7,8,9 -n 20 --tier=0 "
                          "--repetition-penalty=9")),
            FirstLine(Run("vm-generate llama.gguf --ids=1,7,8,9 -n 20 "
                          "--tier=0")));
}

TEST_F(GenerateTest, GuessesChangeNoId) {
  const std::string command =
      "vm-generate llama.gguf --ids=5,6,7,5,6,7 -n 60 --tier=0";
  const Outcome guessed = Run(command + " --guesses=4");
  EXPECT_EQ(FirstLine(guessed), FirstLine(Run(command)));
  EXPECT_NE(guessed.output.find("guesses were right"), std::string::npos)
      << guessed.output;
  ASSERT_EQ(Run("vm-compile llama.gguf -o last.vmfb").exit_status, 0);
  ExpectError("vm-generate last.vmfb --ids=1 --tier=0 --guesses=4",
              "vm-generate: guesses: expected a module with logits of all "
              "positions, found one with those of the last position; compile "
              "it with --entry=all");
  Write("lfm2.gguf", gguf::SampleModel("lfm2"));
  const Outcome state =
      Run("vm-generate lfm2.gguf --ids=1 --tier=0 --guesses=4");
  EXPECT_EQ(state.exit_status, 1);
  EXPECT_NE(state.output.find("found the state 'blk.0.convolution'"),
            std::string::npos)
      << state.output;
}

TEST_F(GenerateTest, EndsCleanlyAtCtrlC) {
  int out[2];
  ASSERT_EQ(pipe(out), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, out[0]);
  const std::string tool = Tools() + "/vm-generate";
  const std::string model = Folder() + "/llama.gguf";
  // Generating 20000 tokens would take minutes, so the process still runs when
  // the signal arrives.
  const char* const arguments[] = {tool.c_str(),  model.c_str(), "--ids=1,7",
                                   "-n",          "20000",       "--tier=0",
                                   "--threads=1", nullptr};
  pid_t child = 0;
  ASSERT_EQ(posix_spawn(&child, tool.c_str(), &actions, nullptr,
                        const_cast<char* const*>(arguments), environ),
            0);
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  std::string output(1, ' ');
  // Reading the first byte waits until the generation has begun.
  ASSERT_EQ(read(out[0], output.data(), 1), 1);
  kill(child, SIGINT);
  char buffer[4096];
  ssize_t count = 0;
  while ((count = read(out[0], buffer, sizeof(buffer))) > 0)
    output.append(buffer, static_cast<size_t>(count));
  close(out[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << output;
  EXPECT_NE(output.find("\nloaded in "), std::string::npos) << output;
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
