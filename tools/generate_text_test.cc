// Tests vm-generate with texts and chats by running it as a user does.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "frontends/gguf/testing/sample_models.h"
#include "frontends/safetensors/testing/hub_model.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

// This template puts nothing between messages, so that the tests can count the
// tokens of a chat.
constexpr std::string_view kTemplate =
    "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}";
constexpr char kText[] = "vm-generate text.gguf --tier=0 -n 12 ";

class GenerateTextTest : public CliTest {
 protected:
  void SetUp() override {
    Write("text.gguf", gguf::SampleModel("llama/text"));
    Write("template.jinja", kTemplate);
  }

  // Returns the text that a tool prints before its line with times.
  static std::string TextOf(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
    const size_t end = outcome.output.rfind("\nloaded in ");
    EXPECT_NE(end, std::string::npos) << outcome.output;
    return outcome.output.substr(0, end);
  }

  static void ExpectContains(const std::string& command,
                             const std::string& text, int status) {
    const Outcome outcome = Run(command);
    EXPECT_EQ(outcome.exit_status, status) << command;
    EXPECT_NE(outcome.output.find(text), std::string::npos) << command << "\n"
                                                            << outcome.output;
    EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1)
        << outcome.output;
  }
};

// Returns the text of token ids, by the vocabulary of the sample model. Stops
// at a token that ends texts.
std::string Decode(const std::string& ids) {
  std::string text;
  const char* at = ids.c_str();
  for (char* end = nullptr;; at = end + 1) {
    const long id = std::strtol(at, &end, 10);
    if (end == at || id == 2 || id == 4) return text;
    if (id == 5) text += '\n';
    if (id == 6) text += ' ';
    if (id == 101) text += "he";
    if (id > 6 && id < 101) text += static_cast<char>('!' + (id - 7));
    if (*end != ',') return text;
  }
}

TEST_F(GenerateTextTest, ContinuesAText) {
  const std::string text = TextOf(Run(std::string(kText) + "-p 'he!'"));
  EXPECT_FALSE(text.empty());
  // In the sample's vocabulary "he!" is the tokens 101 and 7, and token 1
  // begins a text.
  const Outcome ids = Run("vm-generate text.gguf --tier=0 -n 12 --ids=1,101,7");
  EXPECT_EQ(text, Decode(ids.output));
  Write("prompt.txt", "he!");
  EXPECT_EQ(TextOf(Run(std::string(kText) + "--prompt-file=prompt.txt")), text);
  EXPECT_EQ(TextOf(Run(std::string(kText) + "--prompt-file=- < prompt.txt")),
            text);
  EXPECT_EQ(TextOf(Run(std::string(kText) + "--prompt='he!' --chunk=2 "
                                            "--context=99 --guesses=3")),
            text);
  // --stop-text ends the text before the first occurrence of a string, here a
  // digit.
  const size_t at = text.find_first_of("0123456789", 2);
  ASSERT_NE(at, std::string::npos) << text;
  const std::string stop = text.substr(at, 1);
  EXPECT_EQ(
      TextOf(Run(std::string(kText) + "-p 'he!' --stop-text='" + stop + "'")),
      text.substr(0, text.find(stop)));
}

TEST_F(GenerateTextTest, AModuleKeepsItsTokenizer) {
  const std::string text = TextOf(Run(std::string(kText) + "-p 'he!'"));
  ASSERT_EQ(Run("vm-compile text.gguf -o text.vmfb").exit_status, 0);
  EXPECT_EQ(TextOf(Run("vm-generate text.vmfb --tier=0 -n 12 -p 'he!'")), text);
  for (const std::string file : {"text.gguf", "text.vmfb"}) {
    EXPECT_EQ(TextOf(Run("vm-generate text.vmfb --tier=0 -n 12 -p 'he!' "
                         "--tokenizer=" +
                         file)),
              text);
  }
  EXPECT_EQ(TextOf(Run("vm-generate text.vmfb --tier=0 -n 12 -p Hi --chat")),
            TextOf(Run("vm-generate text.gguf --tier=0 -n 12 -p Hi --chat")));
}

TEST_F(GenerateTextTest, ContinuesATextWithAFolder) {
  ASSERT_EQ(Run("mkdir -p hub").exit_status, 0);
  const safetensors::HubModel hub = safetensors::MakeHubModel("qwen2");
  Write("hub/config.json", hub.config);
  Write("hub/model.safetensors", hub.weights);
  ExpectContains("vm-generate hub --tier=0 -n 5 -p abc",
                 "hub: expected tokenizer.json in the folder, found none; give "
                 "one with --tokenizer=FILE",
                 1);
  std::string vocabulary;
  for (char c = 'a'; c <= 'x'; ++c) {
    vocabulary += std::string(c == 'a' ? "" : ", ") + "\"" + c +
                  "\": " + std::to_string(c - 'a');
  }
  Write("hub/tokenizer.json", R"({"model": {"type": "BPE", "vocab": {)" +
                                  vocabulary + R"(}, "merges": []}})");
  const std::string text = TextOf(Run("vm-generate hub --tier=0 -n 5 -p abc"));
  EXPECT_EQ(text.size(), 5);
  EXPECT_EQ(TextOf(Run("vm-generate hub/model.safetensors --tier=0 -n 5 "
                       "-p abc")),
            text);
  EXPECT_EQ(TextOf(Run("vm-generate hub --tier=0 -n 5 -p abc "
                       "--tokenizer=hub/tokenizer.json")),
            text);
  Write("hub/chat_template.jinja", "{{ messages[0].content }}");
  ASSERT_EQ(Run("vm-compile hub -o hub.vmfb").exit_status, 0);
  EXPECT_EQ(TextOf(Run("vm-generate hub.vmfb --tier=0 -n 5 -p abc --chat")),
            text);
}

TEST_F(GenerateTextTest, GeneratesJson) {
  const std::string text = TextOf(Run(
      "vm-generate text.gguf --tier=0 -n 30 -p 'he' --json --temperature=1"));
  EXPECT_EQ(text.substr(text.find_first_not_of(" \n"), 1), "{") << text;
}

TEST_F(GenerateTextTest, AnswersAMessage) {
  // A chat of one message with this template has the same prompt as plain -p,
  // so the answer is the same text.
  EXPECT_EQ(TextOf(Run(std::string(kText) +
                       "--chat -p 'he!' --template=template.jinja")),
            TextOf(Run(std::string(kText) + "-p 'he!'")));
  // The model's own template makes another prompt, so the answer differs. A
  // system message changes the answer, too.
  const std::string chat = TextOf(Run(std::string(kText) + "--chat -p 'he!'"));
  EXPECT_NE(TextOf(Run(std::string(kText) + "--chat -p 'he!' --system=Sys")),
            chat);
}

TEST_F(GenerateTextTest, KeepsTheStateInAChat) {
  const std::string tool =
      "vm-generate text.gguf --tier=0 --chat --template=template.jinja ";
  Write("one.txt", "he!\n");
  Write("two.txt", "he!\n\nhe!");
  const Outcome one = Run(tool + "-n 4 < one.txt");
  EXPECT_NE(one.output.find("prompt of 3 tokens"), std::string::npos)
      << one.output;
  const Outcome two = Run(tool + "-n 4 < two.txt");
  // The second message adds 3 tokens to the 3 of the first prompt: its own two,
  // and the last token of the reply, which was not computed before.
  EXPECT_NE(two.output.find("prompt of 6 tokens"), std::string::npos)
      << two.output;
  EXPECT_TRUE(two.output.starts_with(TextOf(one) + "\n")) << two.output;
  const Outcome full = Run(tool + "--context=5 < two.txt");
  EXPECT_EQ(full.exit_status, 1) << full.output;
  EXPECT_NE(full.output.find("note: the context of 5 tokens is full; give a "
                             "larger --context"),
            std::string::npos)
      << full.output;
}

TEST_F(GenerateTextTest, RefusesWrongCommandLines) {
  const std::string tool = "vm-generate text.gguf ";
  ExpectError(tool,
              "vm-generate: expected a prompt, found none: give -p TEXT, "
              "--prompt-file=FILE, --chat or --ids=ID,ID,… (see --help)",
              2);
  ExpectContains(tool + "-p a --ids=1", "expected one of -p, --prompt-file", 2);
  ExpectContains(tool + "-p a -p b", "expected one of -p, --prompt-file", 2);
  ExpectContains(tool + "--chat --ids=1", "--chat: expected -p TEXT", 2);
  ExpectContains(tool + "-p a --system=b", "--system: expected --chat", 2);
  ExpectContains(tool + "-p a --top=2", "--top: expected --ids", 2);
  ExpectContains(tool + "--ids=1 --json", "--json: expected -p or --chat", 2);
  ExpectContains(tool + "-p a --temperature=-1",
                 "--temperature: expected a number that is not negative", 2);
  ExpectContains(tool + "-p a --top-p=2", "top_p: expected more than 0", 2);
  ExpectContains(tool + "-p a --top-k=9999999999",
                 "--top-k: expected at least 0 and less than 2^31, found", 2);
  ExpectContains(tool + "-p a --stop-text=",
                 "--stop-text: stop string: expected 1 to 1024 bytes", 2);
  ExpectContains(tool + "-p a --chunk=0", "--chunk: expected at least 1", 2);
}

TEST_F(GenerateTextTest, NamesWhatIsMissing) {
  ExpectContains("vm-generate none.gguf -p a", "none.gguf", 1);
  ExpectContains("vm-generate text.gguf -p a --tokenizer=none.json",
                 "none.json", 1);
  ExpectContains("vm-generate text.gguf -p a --tokenizer=template.jinja",
                 "template.jinja: ", 1);
  ASSERT_EQ(Run("vm-compile digits.onnx -o digits.vmfb").exit_status, 0);
  ExpectContains("vm-generate digits.vmfb -p a",
                 "digits.vmfb: expected a model with a tokenizer, found a "
                 "compiled module, which has none; give one with "
                 "--tokenizer=FILE",
                 1);
  ExpectContains("vm-generate digits.onnx -p a --tokenizer=text.gguf",
                 "expected a language model", 1);
  // The flag --tokenizer names the file of another model, whose vocabulary has
  // another size.
  Write("llama.gguf", gguf::SampleModel("llama"));
  ExpectContains(
      "vm-generate llama.gguf -p a --tier=0 --tokenizer=text.gguf",
      "llama.gguf: expected a logit for each of the 102 tokens of the "
      "tokenizer, found 24; give the tokenizer of this model",
      1);
  ExpectError("vm-generate text.gguf -p 'a b c' --tier=0 --context=3",
              "vm-generate: the context is full: expected at most 3 tokens, "
              "found 6; give a larger --context");
  ExpectContains("vm-generate text.gguf --chat -p 'a' --tier=0 --context=3",
                 "prompt: expected at most 3 tokens, for which the context has "
                 "room, found ",
                 1);
  Write("wrong.jinja", "{% for %}");
  ExpectContains("vm-generate text.gguf --chat -p a --template=wrong.jinja",
                 "wrong.jinja: chat template: line 1: ", 1);
  Write("raises.jinja", "{{ raise_exception('no system') }}");
  ExpectContains(
      "vm-generate text.gguf --chat -p a --tier=0 --template=raises.jinja",
      "no system", 1);
}

}  // namespace
}  // namespace ember::tools
