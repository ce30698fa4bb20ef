// Tests that the readers of tokenizer.json and GGUF return errors for files
// that they cannot read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "frontends/gguf/gguf_file.h"
#include "frontends/gguf/testing/file_builder.h"
#include "llm/tokenizer/gguf_definition.h"
#include "llm/tokenizer/json_definition.h"

namespace ember::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ErrorOf(std::string_view text) {
  const auto definition = ReadJsonTokenizer(text);
  if (definition.ok()) return "";
  const std::string message(definition.status().message());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

std::string WithStep(std::string_view step) {
  return R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, )" +
         std::string(step) + "}";
}

TEST(JsonReader, NamesWhatIsWrong) {
  EXPECT_THAT(ErrorOf("{"), HasSubstr("expected JSON"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("model: expected an object"));
  EXPECT_THAT(ErrorOf(std::string(100, '[')), HasSubstr("nested values"));
  EXPECT_THAT(ErrorOf(R"({"model": {"type": "RNN", "vocab": {}}})"),
              HasSubstr("expected BPE, Unigram or WordPiece, found \"RNN\""));
  EXPECT_THAT(ErrorOf(R"({"model": {"vocab": {"a": "x"}, "merges": []}})"),
              HasSubstr("model.vocab.a: expected an id"));
  EXPECT_THAT(ErrorOf(R"({"model": {"vocab": {"a": 99999999}, "merges": []}})"),
              HasSubstr("token \"a\": expected an id below"));
  EXPECT_THAT(ErrorOf(R"({"model": {"vocab": {"a": -1}, "merges": []}})"),
              HasSubstr("found -1"));
  EXPECT_THAT(ErrorOf(R"({"model": {"vocab": {"a": 0}, "merges": ["a"]}})"),
              HasSubstr("merges[0]: expected two texts"));
  EXPECT_THAT(ErrorOf(R"({"model": {"vocab": {"a": 0}, "merges": ["a a"]}})"),
              HasSubstr("expected texts of tokens"));
  EXPECT_THAT(ErrorOf(R"({"model": {"type": "Unigram", "vocab": [["a"]]}})"),
              HasSubstr("vocab[0]: expected a text and a score"));
  EXPECT_THAT(ErrorOf(R"({"model": {"vocab": {}, "merges": []}})"),
              HasSubstr("expected tokens, found none"));
}

TEST(JsonReader, NamesUnknownSteps) {
  EXPECT_THAT(ErrorOf(WithStep(R"("normalizer": {"type": "Nmt"})")),
              HasSubstr("normalizer.type: expected one of Sequence, NFC"));
  EXPECT_THAT(ErrorOf(WithStep(R"("normalizer": {"type": "Precompiled",
      "precompiled_charsmap": "?"})")),
              HasSubstr("expected base64"));
  EXPECT_THAT(
      ErrorOf(WithStep(R"("pre_tokenizer": {"type": "UnicodeScripts"})")),
      HasSubstr("found \"UnicodeScripts\""));
  EXPECT_THAT(ErrorOf(WithStep(R"("pre_tokenizer": {"type": "Split",
      "pattern": {"Regex": "a"}, "behavior": "Eaten"})")),
              HasSubstr("behavior: expected Isolated"));
  EXPECT_THAT(ErrorOf(WithStep(R"("decoder": {"type": "CTC"})")),
              HasSubstr("decoder.type"));
  EXPECT_THAT(ErrorOf(WithStep(R"("post_processor":
      {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x"}}]
      })")),
              HasSubstr("special_tokens: expected the ids"));
  EXPECT_EQ(ErrorOf(WithStep(R"("normalizer": null)")), "");
}

TEST(JsonReader, ReadsSpecialTokensAndTheConfiguration) {
  auto definition = ReadJsonTokenizer(R"({
    "added_tokens": [{"id": 1, "content": "<s>", "special": true},
                     {"id": 2, "content": "<|im_end|>", "special": true},
                     {"id": 5, "content": "x y", "special": false}],
    "post_processor": {"type": "BertProcessing", "cls": ["<s>", 1],
                       "sep": ["<|im_end|>", 2]},
    "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})");
  ASSERT_TRUE(definition.ok()) << definition.status().ToString();
  EXPECT_EQ(definition->tokens.size(), 6);
  EXPECT_EQ(definition->tokens[4].kind, TokenKind::kUnused);
  EXPECT_EQ(definition->tokens[5].kind, TokenKind::kUserDefined);
  EXPECT_THAT(definition->prefix, ElementsAre(1));
  EXPECT_THAT(definition->suffix, ElementsAre(2));
  EXPECT_THAT(definition->ends_of_generation, ElementsAre(2));
  const Status status = AddTokenizerConfig(
      R"({"bos_token": {"content": "<s>"}, "eos_token": "<|im_end|>",
          "chat_template": [{"name": "rag", "template": "r"},
                            {"name": "default", "template": "d"}]})",
      &*definition);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(definition->begin_of_text, 1);
  EXPECT_EQ(definition->end_of_text, 2);
  EXPECT_EQ(definition->chat_template, "d");
  EXPECT_THAT(definition->ends_of_generation, ElementsAre(2));
  EXPECT_FALSE(AddTokenizerConfig("[]", &*definition).ok());
}

StatusOr<TokenizerDefinition> ReadGguf(const gguf::FileBuilder& file) {
  const std::string contents = file.Build();
  EMBER_ASSIGN_OR_RETURN(
      const gguf::GgufFile gguf,
      gguf::GgufFile::Open(
          {reinterpret_cast<const uint8_t*>(contents.data()), contents.size()},
          nullptr));
  return ReadGgufTokenizer(gguf);
}

TEST(GgufReader, ReadsBytePairs) {
  gguf::FileBuilder file;
  file.AddText("tokenizer.ggml.model", "gpt2");
  file.AddText("tokenizer.ggml.pre", "llama-bpe");
  file.AddTexts("tokenizer.ggml.tokens",
                {"Ġ", "a", "Ġa", "<|eot_id|>", "<|begin|>"});
  file.AddIntegers("tokenizer.ggml.token_type", {1, 1, 1, 3, 3});
  file.AddTexts("tokenizer.ggml.merges", {"Ġ a", "a missing"});
  file.AddInteger("tokenizer.ggml.bos_token_id", 4);
  file.AddInteger("tokenizer.ggml.eos_token_id", 77);
  file.AddText("tokenizer.chat_template", "{{ bos_token }}");
  const auto definition = ReadGguf(file);
  ASSERT_TRUE(definition.ok()) << definition.status().ToString();
  EXPECT_EQ(definition->tokens[2].text, " a");
  ASSERT_EQ(definition->merges.size(), 1);
  EXPECT_EQ(definition->merges[0].result, 2);
  EXPECT_TRUE(definition->ignores_merges);
  EXPECT_THAT(definition->prefix, ElementsAre(4));
  EXPECT_EQ(definition->end_of_text, -1);
  EXPECT_THAT(definition->ends_of_generation, ElementsAre(3));
  EXPECT_EQ(definition->chat_template, "{{ bos_token }}");
}

TEST(GgufReader, NamesWhatIsWrong) {
  const auto error_of = [](auto add) {
    gguf::FileBuilder file;
    add(&file);
    const auto definition = ReadGguf(file);
    return definition.ok() ? "" : std::string(definition.status().message());
  };
  EXPECT_THAT(error_of([](auto*) {}), HasSubstr("tokenizer.ggml.model"));
  EXPECT_THAT(error_of([](auto* f) {
                f->AddText("tokenizer.ggml.model", "rwkv");
                f->AddTexts("tokenizer.ggml.tokens", {"a"});
              }),
              HasSubstr("expected gpt2, llama, t5 or bert, found \"rwkv\""));
  EXPECT_THAT(error_of([](auto* f) {
                f->AddText("tokenizer.ggml.model", "llama");
                f->AddTexts("tokenizer.ggml.tokens", {"a", "b"});
                f->AddNumbers("tokenizer.ggml.scores", {1});
              }),
              HasSubstr("scores: expected 2 elements"));
  EXPECT_THAT(error_of([](auto* f) {
                f->AddText("tokenizer.ggml.model", "gpt2");
                f->AddText("tokenizer.ggml.pre", "new");
                f->AddTexts("tokenizer.ggml.tokens", {"a"});
              }),
              HasSubstr("tokenizer.ggml.pre: expected one of gpt-2"));
  EXPECT_THAT(error_of([](auto* f) {
                f->AddText("tokenizer.ggml.model", "gpt2");
                f->AddTexts("tokenizer.ggml.tokens", {"a"});
                f->AddTexts("tokenizer.ggml.merges", {"aa"});
              }),
              HasSubstr("element 0: expected two texts"));
}

}  // namespace
}  // namespace ember::llm
