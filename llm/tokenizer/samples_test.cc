// Tests small tokenizers against ids that other libraries computed for them.
// The sample files were written by tests/tokenizers/samples.py.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "frontends/gguf/gguf_file.h"
#include "frontends/gguf/testing/file_builder.h"
#include "llm/tokenizer/gguf_definition.h"
#include "llm/tokenizer/json_definition.h"
#include "llm/tokenizer/text_stream.h"
#include "llm/tokenizer/tokenizer.h"

namespace ember::llm {
namespace {

using nlohmann::json;

json ReadSample(const std::string& name) {
  const auto text = ReadFile("llm/tokenizer/testdata/" + name + ".json");
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  return json::parse(*text);
}

StatusOr<Tokenizer> FromJson(const json& sample) {
  EMBER_ASSIGN_OR_RETURN(TokenizerDefinition definition,
                         ReadJsonTokenizer(sample["tokenizer"].dump()));
  return Tokenizer::Create(std::move(definition));
}

// Makes a tokenizer from a GGUF file that has the pieces of a SentencePiece
// model.
StatusOr<Tokenizer> FromPieces(const json& sample) {
  std::vector<std::string> texts;
  std::vector<float> scores;
  std::vector<int32_t> kinds;
  for (const json& piece : sample["pieces"]) {
    texts.push_back(piece[0].get<std::string>());
    scores.push_back(piece[1].get<float>());
    kinds.push_back(piece[2].get<int32_t>());
  }
  gguf::FileBuilder file;
  file.AddText("tokenizer.ggml.model", "llama");
  file.AddTexts("tokenizer.ggml.tokens", texts);
  file.AddNumbers("tokenizer.ggml.scores", scores);
  file.AddIntegers("tokenizer.ggml.token_type", kinds);
  const std::string contents = file.Build();
  EMBER_ASSIGN_OR_RETURN(
      const gguf::GgufFile gguf,
      gguf::GgufFile::Open(
          {reinterpret_cast<const uint8_t*>(contents.data()), contents.size()},
          nullptr));
  EMBER_ASSIGN_OR_RETURN(TokenizerDefinition definition,
                         ReadGgufTokenizer(gguf));
  return Tokenizer::Create(std::move(definition));
}

struct Sample {
  const char* name;
  // True: the library that computed the ids also recognises special tokens in
  // texts, so the test does, too.
  bool parses_special;
  // True: decoding returns the text, unless it has special tokens or characters
  // that the normalizer composes.
  bool keeps_text;
};

class SamplesTest : public testing::TestWithParam<Sample> {};

TEST_P(SamplesTest, IdsAreThoseOfTheOtherLibrary) {
  const json sample = ReadSample(GetParam().name);
  const StatusOr<Tokenizer> tokenizer =
      sample.contains("pieces") ? FromPieces(sample) : FromJson(sample);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  const EncodeOptions options = {.add_special = false,
                                 .parse_special = GetParam().parses_special};
  ASSERT_GT(sample["cases"].size(), 30);
  for (const json& each : sample["cases"]) {
    const auto text = each["text"].get<std::string>();
    SCOPED_TRACE(text);
    const auto ids = tokenizer->Encode(text, options);
    ASSERT_TRUE(ids.ok()) << ids.status().ToString();
    EXPECT_EQ(*ids, each["ids"].get<std::vector<int32_t>>());

    TextStream stream(*tokenizer, {.render_special = true});
    std::string streamed;
    for (const int32_t id : *ids) streamed += stream.Push(id);
    streamed += stream.Finish();
    EXPECT_EQ(streamed, tokenizer->Decode(*ids, {.render_special = true}));
    // A text is not compared if the normalizer changes it: it has a combining
    // accent, a space mark or a special token.
    const bool changes = text.find("\u0301") != std::string::npos ||
                         text.find("\u2581") != std::string::npos ||
                         text.find('<') != std::string::npos;
    if (GetParam().keeps_text && !changes) {
      EXPECT_EQ(streamed, text);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, SamplesTest,
    testing::Values(Sample{"gpt2", true, true}, Sample{"llama2", true, true},
                    Sample{"llama3", true, true}, Sample{"qwen2", true, true},
                    Sample{"sentencepiece_bpe", false, true},
                    Sample{"unigram", false, false},
                    Sample{"wordpiece", true, false}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ember::llm
