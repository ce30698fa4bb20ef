#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/testing/seeds.h"
#include "llm/grammar/json_constraint.h"
#include "llm/grammar/json_machine.h"
#include "llm/grammar/vocabulary_trie.h"
#include "llm/sampling/random.h"
#include "llm/sampling/sampler.h"

namespace ember::llm {
namespace {

using ::testing::HasSubstr;

bool Accepts(std::string_view text, const JsonLimits& limits = {}) {
  JsonMachine machine(limits);
  for (const char c : text) {
    if (!machine.Push(static_cast<uint8_t>(c))) return false;
  }
  return machine.IsComplete();
}

TEST(JsonMachine, AcceptsJson) {
  for (const std::string_view text :
       {"{}", "[]", "\"\"", "0", "-0.5e+10", "12", "true", "false", "null",
        " { \"a\" : [ 1 , \"b\" , { } ] , \"\" : -1 } ", "\"é😀\\u00e9\\n\"",
        "[[[[]]]]", "[1,2]", "\"\\ud7ff\\uE000\"", "1e5", "10.25"}) {
    EXPECT_TRUE(Accepts(text)) << text;
  }
}

TEST(JsonMachine, RefusesTheRest) {
  for (const std::string_view text : {"",
                                      "{",
                                      "}",
                                      "[1,]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{a:1}",
                                      "{\"a\":1,}",
                                      "01",
                                      "-",
                                      "1.",
                                      "1.e5",
                                      ".5",
                                      "+1",
                                      "1e",
                                      "tru",
                                      "truee",
                                      "nul",
                                      "\"a",
                                      "\"\n\"",
                                      "\"\\x\"",
                                      "\"\\u12g4\"",
                                      "\"\\ud800\"",
                                      "\"\xff\"",
                                      "\"\xc0\x80\"",
                                      "\"\xed\xa0\x80\"",
                                      "[1}",
                                      "{]",
                                      "1 2",
                                      "[1 2]",
                                      "'a'",
                                      "NaN",
                                      "1e100"}) {
    EXPECT_FALSE(Accepts(text)) << text;
  }
}

TEST(JsonMachine, HasLimits) {
  EXPECT_TRUE(Accepts("[[]]", {.depth = 2}));
  EXPECT_FALSE(Accepts("[[[]]]", {.depth = 2}));
  EXPECT_FALSE(Accepts("[1  ]", {.white_space = 1}));
  EXPECT_FALSE(Accepts("12345", {.digits = 4}));
  EXPECT_TRUE(Accepts("{\"a\":1}", {.is_object = true}));
  EXPECT_FALSE(Accepts("[{}]", {.is_object = true}));
  EXPECT_FALSE(Accepts("1", {.is_object = true}));
}

// Returns a vocabulary with a token for each byte, some longer tokens, two
// tokens with the same text, and two control tokens.
Vocabulary MakeVocabulary() {
  std::vector<TokenDefinition> tokens;
  for (int byte = 0; byte < 256; ++byte) {
    tokens.push_back({.text = std::string(1, static_cast<char>(byte))});
  }
  for (const char* const text :
       {"{\"", "\":", "\", \"", "true", "null", "}}", "]}", "\n  ", "12", "ab",
        "\xc3\xa9", "\xc3", "é\"", "\\u00", "[[", "fals"}) {
    tokens.push_back({.text = text});
  }
  tokens.push_back({.text = "<0x41>", .kind = TokenKind::kByte});
  tokens.push_back({.text = "<|end|>", .kind = TokenKind::kControl});
  tokens.push_back({.text = "{}", .kind = TokenKind::kControl});
  auto vocabulary = Vocabulary::Create(std::move(tokens), false);
  EXPECT_TRUE(vocabulary.ok());
  return *std::move(vocabulary);
}

int32_t EndOf(const Vocabulary& vocabulary) { return vocabulary.size() - 2; }

TEST(JsonConstraint, MasksAreThoseOfTheMachine) {
  const Vocabulary vocabulary = MakeVocabulary();
  const VocabularyTrie trie(vocabulary);
  const int32_t end = EndOf(vocabulary);
  const SeedRange seeds = TestSeeds(100);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE(ReplayOf(seed, "//llm/grammar:grammar_test"));
    Random random(seed);
    JsonMachine machine({});
    JsonConstraint constraint(trie, std::vector<int32_t>{end}, {});
    for (int step = 0; step < 30; ++step) {
      const TokenMask mask = constraint.Allowed();
      std::vector<int32_t> allowed;
      for (int32_t id = 0; id < vocabulary.size(); ++id) {
        JsonMachine next = machine;
        bool fits = !vocabulary.IsHidden(id);
        for (const char c : vocabulary.Bytes(id)) {
          fits = fits && next.Push(static_cast<uint8_t>(c));
        }
        if (id == end) fits = machine.IsComplete();
        ASSERT_EQ(mask.Has(id), fits) << "token " << id << " step " << step;
        if (fits && id != end) allowed.push_back(id);
      }
      if (allowed.empty()) break;
      const int32_t id = allowed[random.Next() % allowed.size()];
      ASSERT_TRUE(constraint.Accept(id).ok());
      for (const char c : vocabulary.Bytes(id)) {
        ASSERT_TRUE(machine.Push(static_cast<uint8_t>(c)));
      }
      ASSERT_EQ(constraint.IsComplete(), machine.IsComplete());
    }
  }
}

// The model strongly prefers quotes and closing brackets, so each generated
// text must be a complete JSON object.
TEST(JsonConstraint, GeneratesObjects) {
  const Vocabulary vocabulary = MakeVocabulary();
  const VocabularyTrie trie(vocabulary);
  const int32_t end = EndOf(vocabulary);
  const SeedRange seeds = TestSeeds(100);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE(ReplayOf(seed, "//llm/grammar:grammar_test"));
    SamplingOptions options;
    options.seed = seed;
    options.top_k = 0;
    options.top_p = 1;
    options.min_p = 0;
    options.temperature = 1;
    for (const char likely : {'"', '}', ']', '1'}) {
      options.biases.emplace_back(static_cast<unsigned char>(likely), 4.0f);
    }
    options.biases.emplace_back(end, 9.0f);
    auto sampler = Sampler::Create(options, vocabulary.size());
    ASSERT_TRUE(sampler.ok());
    JsonConstraint constraint(trie, std::vector<int32_t>{end},
                              {.is_object = true, .white_space = 2});
    const std::vector<float> logits(vocabulary.size(), 0.0f);
    std::string text;
    for (int step = 0; step < 5000 && !constraint.is_ended(); ++step) {
      const auto id = sampler->Sample(logits, &constraint.Allowed());
      ASSERT_TRUE(id.ok()) << id.status().ToString() << text;
      if (*id != end) text += vocabulary.Bytes(*id);
      ASSERT_TRUE(constraint.Accept(*id).ok());
    }
    ASSERT_TRUE(constraint.is_ended()) << text;
    EXPECT_TRUE(nlohmann::json::parse(text, nullptr, false).is_object())
        << text;
    EXPECT_EQ(constraint.Allowed().Count(), 0);
  }
}

TEST(JsonConstraint, RefusesOtherTokens) {
  const Vocabulary vocabulary = MakeVocabulary();
  const VocabularyTrie trie(vocabulary);
  const int32_t end = EndOf(vocabulary);
  JsonConstraint constraint(trie, std::vector<int32_t>{end, 100000}, {});
  EXPECT_THAT(constraint.Accept('x').message(),
              HasSubstr("found token 120 \"x\""));
  EXPECT_FALSE(constraint.Accept(end).ok());
  // the control token named "{}", whose name looks like JSON
  EXPECT_FALSE(constraint.Accept(end + 1).ok());
  EXPECT_FALSE(constraint.Accept(100000).ok());
  EXPECT_FALSE(constraint.Accept(-1).ok());
  EXPECT_TRUE(constraint.Accept('1').ok());
  EXPECT_TRUE(constraint.Allowed().Has(end));
  EXPECT_TRUE(constraint.Accept(end).ok());
  EXPECT_FALSE(constraint.Accept('1').ok());
}

}  // namespace
}  // namespace ember::llm
