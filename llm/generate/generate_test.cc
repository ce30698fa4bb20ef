#include "llm/generate/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace ember::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int32_t kEnd = 256;

Tokenizer MakeTokenizer() {
  TokenizerDefinition d;
  d.is_byte_level = true;
  for (int byte = 0; byte < 256; ++byte) {
    d.tokens.push_back({.text = std::string(1, static_cast<char>(byte))});
  }
  d.tokens.push_back({.text = "<end>", .kind = TokenKind::kControl});
  d.ends_of_generation = {kEnd};
  auto tokenizer = Tokenizer::Create(std::move(d));
  EXPECT_TRUE(tokenizer.ok());
  return *std::move(tokenizer);
}

// A fake model that generates a given text after any prompt.
class Script : public LogitSource {
 public:
  Script(std::string text, size_t prompt, int64_t room)
      : text_(std::move(text)), prompt_(prompt), room_(room) {}

  StatusOr<std::span<const float>> Append(
      std::span<const int32_t> ids) override {
    chunks.push_back(ids.size());
    tokens.insert(tokens.end(), ids.begin(), ids.end());
    // There are two more logits than tokens, as in a model whose embedding is
    // padded.
    logits_.assign(kEnd + 3, 0.0f);
    if (tokens.size() < prompt_) return std::span<const float>(logits_);
    const size_t at = tokens.size() - prompt_;
    const int32_t next =
        at < text_.size() ? static_cast<unsigned char>(text_[at]) : kEnd;
    logits_[next] = 50;
    return std::span<const float>(logits_);
  }
  int64_t room() const override {
    return room_ - static_cast<int64_t>(tokens.size());
  }

  std::vector<int32_t> tokens;
  std::vector<size_t> chunks;

 private:
  std::string text_;
  size_t prompt_;
  int64_t room_;
  std::vector<float> logits_;
};

// A fake model that can also be truncated and gives the logits of each token,
// so that guesses can be checked.
class CheckingScript : public Script {
 public:
  using Script::Script;

  std::span<const int32_t> ids() const override { return tokens; }
  Status Truncate(int64_t length) override {
    tokens.resize(static_cast<size_t>(length));
    return OkStatus();
  }
  Status CheckGuesses() const override { return OkStatus(); }
  StatusOr<std::span<const float>> AppendAll(
      std::span<const int32_t> ids) override {
    steps.push_back(ids.size());
    rows_.clear();
    for (const int32_t id : ids) {
      EMBER_ASSIGN_OR_RETURN(const std::span<const float> row,
                             Append({&id, 1}));
      rows_.insert(rows_.end(), row.begin(), row.end());
    }
    return std::span<const float>(rows_);
  }

  std::vector<size_t> steps;

 private:
  std::vector<float> rows_;
};

const std::vector<int32_t> kPrompt = {'a', 'b', 'c'};

TEST(Generate, EndsAtTheEndToken) {
  const Tokenizer tokenizer = MakeTokenizer();
  Script model("héllo", 3, 100);
  std::vector<std::string> parts;
  GenerateOptions options;
  options.prompt_chunk = 2;
  options.on_text = [&parts](std::string_view text) {
    parts.emplace_back(text);
    return true;
  };
  const auto result = Generate(tokenizer, model, kPrompt, options);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->text, "héllo");
  EXPECT_EQ(result->ids.size(), 6);
  EXPECT_EQ(result->reason(), EndReason::kEndToken);
  EXPECT_THAT(parts, ElementsAre("h", "é", "l", "l", "o"));
  EXPECT_THAT(model.chunks, ElementsAre(2, 1, 1, 1, 1, 1, 1, 1));
}

TEST(Generate, EndsForEachReason) {
  const Tokenizer tokenizer = MakeTokenizer();
  GenerateOptions options;
  options.stop = {"lo"};
  Script stopped("hello world", 3, 100);
  auto result = Generate(tokenizer, stopped, kPrompt, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "hel");
  EXPECT_EQ(result->reason(), EndReason::kStopString);

  options = {};
  options.max_tokens = 4;
  Script limited("hello world", 3, 100);
  result = Generate(tokenizer, limited, kPrompt, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "hell");
  EXPECT_EQ(result->reason(), EndReason::kMaxTokens);
  // The last generated token is not appended, because no logits after it are
  // needed.
  EXPECT_EQ(limited.tokens.size(), 6);

  options.max_tokens = 0;
  Script none("hello", 3, 100);
  result = Generate(tokenizer, none, kPrompt, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "");
  EXPECT_EQ(none.tokens.size(), 3);

  options = {};
  Script full("hello world", 3, 5);
  result = Generate(tokenizer, full, kPrompt, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "hel");
  EXPECT_EQ(result->reason(), EndReason::kNoRoom);

  options.on_text = [](std::string_view text) { return text != "l"; };
  Script refused("hello world", 3, 100);
  result = Generate(tokenizer, refused, kPrompt, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "hel");
  EXPECT_EQ(result->reason(), EndReason::kCancelled);

  options = {};
  options.is_cancelled = [] { return true; };
  Script cancelled("hello world", 3, 100);
  result = Generate(tokenizer, cancelled, kPrompt, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->reason(), EndReason::kCancelled);
  EXPECT_TRUE(cancelled.tokens.empty());
}

TEST(Generate, GivesBackTextThatWasHeld) {
  const Tokenizer tokenizer = MakeTokenizer();
  GenerateOptions options;
  options.stop = {"o w"};
  options.max_tokens = 5;
  Script model("hello", 3, 100);
  const auto result = Generate(tokenizer, model, kPrompt, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "hello");
}

TEST(Generate, GuessesChangeNoResult) {
  const Tokenizer tokenizer = MakeTokenizer();
  // After each repeated part of this text, some guesses are right and some are
  // wrong.
  const std::string text = "abcdefg abcdefX abcdefg abcdefY, abcdef";
  for (const float temperature : {0.0f, 1.0f}) {
    for (const int64_t most : {-1, 12, 13, 14, 30}) {
      GenerateOptions options;
      options.sampling.temperature = temperature;
      options.sampling.repetition_penalty = 1.1f;
      options.max_tokens = most;
      Script plain(text, 3, 100);
      const auto expected = Generate(tokenizer, plain, kPrompt, options);
      ASSERT_TRUE(expected.ok());
      options.guesses = 4;
      CheckingScript model(text, 3, 100);
      const auto result = Generate(tokenizer, model, kPrompt, options);
      ASSERT_TRUE(result.ok()) << result.status().ToString();
      EXPECT_EQ(result->text, expected->text);
      EXPECT_EQ(result->ids, expected->ids);
      EXPECT_EQ(result->reason(), expected->reason());
      EXPECT_EQ(model.tokens, plain.tokens);
      if (most != -1) continue;
      EXPECT_GT(result->loop.right_guesses, 4);
      EXPECT_GT(result->loop.guessed_tokens, result->loop.right_guesses);
      EXPECT_LT(model.steps.size(), 15);
    }
  }
}

TEST(Generate, GuessesFitIntoTheRoom) {
  const Tokenizer tokenizer = MakeTokenizer();
  GenerateOptions options;
  options.guesses = 8;
  for (const int64_t room : {9, 10, 11, 12, 13, 20}) {
    Script plain("abcabcabcabcabcabc", 3, room);
    CheckingScript model("abcabcabcabcabcabc", 3, room);
    const auto result = Generate(tokenizer, model, kPrompt, options);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    options.guesses = 0;
    const auto expected = Generate(tokenizer, plain, kPrompt, options);
    options.guesses = 8;
    ASSERT_TRUE(expected.ok());
    EXPECT_EQ(result->text, expected->text);
    EXPECT_EQ(result->reason(), EndReason::kNoRoom);
    EXPECT_EQ(model.tokens, plain.tokens);
  }
}

TEST(Generate, RefusesGuessesThatAreNotChecked) {
  const Tokenizer tokenizer = MakeTokenizer();
  GenerateOptions options;
  options.guesses = 2;
  Script model("abc", 3, 100);
  const auto result = Generate(tokenizer, model, kPrompt, options);
  EXPECT_EQ(result.status().code(), StatusCode::kUnimplemented);
  EXPECT_TRUE(model.tokens.empty());
}

TEST(Generate, EndsAtStopIds) {
  const Tokenizer tokenizer = MakeTokenizer();
  GenerateOptions options;
  options.stop_ids = {'l'};
  Script model("hello", 3, 100);
  const auto result = Generate(tokenizer, model, kPrompt, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "he");
  EXPECT_EQ(result->reason(), EndReason::kEndToken);
}

TEST(Generate, EndsWhenTheSourceIsCancelled) {
  class Cancelled : public Script {
   public:
    using Script::Script;
    StatusOr<std::span<const float>> Append(
        std::span<const int32_t> ids) override {
      if (tokens.size() < 5) return Script::Append(ids);
      is_cancelled = true;
      return CancelledError("cancelled");
    }
    bool is_cancelled = false;
  };
  const Tokenizer tokenizer = MakeTokenizer();
  Cancelled model("hello", 3, 100);
  GenerateOptions options;
  options.is_cancelled = [&model] { return model.is_cancelled; };
  const auto result = Generate(tokenizer, model, kPrompt, options);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->text, "hel");
  EXPECT_EQ(result->reason(), EndReason::kCancelled);
}

TEST(Generate, KeepsJson) {
  const Tokenizer tokenizer = MakeTokenizer();
  const VocabularyTrie trie(tokenizer.vocabulary());
  GenerateOptions options;
  options.json = JsonLimits{.is_object = true, .white_space = 1};
  options.trie = &trie;
  options.max_tokens = 5000;
  // The fake model prefers a text that is no JSON. The constraint must force it
  // to write a JSON object.
  options.sampling.temperature = 1;
  options.sampling.biases = {{'"', 12.0f}, {'}', 12.0f}};
  Script model("Sure, here is the JSON:", 3, 100000);
  const auto result = Generate(tokenizer, model, kPrompt, options);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  ASSERT_EQ(result->reason(), EndReason::kEndToken);
  EXPECT_TRUE(nlohmann::json::parse(result->text, nullptr, false).is_object())
      << result->text;
}

TEST(Generate, RefusesWrongPrompts) {
  const Tokenizer tokenizer = MakeTokenizer();
  const auto error_of = [&](const std::vector<int32_t>& prompt,
                            const GenerateOptions& options) {
    Script model("x", 1, 2);
    return std::string(
        Generate(tokenizer, model, prompt, options).status().message());
  };
  EXPECT_THAT(error_of({}, {}), HasSubstr("at least one token"));
  EXPECT_THAT(error_of({1, 2, 3}, {}), HasSubstr("at most 2 tokens"));
  EXPECT_THAT(error_of({1000}, {}), HasSubstr("expected ids below 257"));
  GenerateOptions options;
  options.json = JsonLimits{};
  EXPECT_THAT(error_of({1}, options), HasSubstr("expected the trie"));
  options = {};
  options.stop = {""};
  EXPECT_THAT(error_of({1}, options), HasSubstr("stop string"));
  options = {};
  options.sampling.top_p = 5;
  EXPECT_THAT(error_of({1}, options), HasSubstr("top_p"));
}

}  // namespace
}  // namespace ember::llm
