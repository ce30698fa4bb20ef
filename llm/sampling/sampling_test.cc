#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "llm/sampling/prompt_lookup.h"
#include "llm/sampling/random.h"
#include "llm/sampling/sampler.h"
#include "llm/sampling/stop_strings.h"
#include "llm/sampling/token_mask.h"

namespace ember::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Returns options with which no token is removed or penalized.
SamplingOptions Plain() {
  SamplingOptions options;
  options.temperature = 1;
  options.top_k = 0;
  options.top_p = 1;
  options.min_p = 0;
  return options;
}

// Draws `count` tokens and returns how often each was drawn.
std::map<int32_t, int> Draws(const SamplingOptions& options,
                             const std::vector<float>& logits, int count,
                             const TokenMask* mask = nullptr) {
  auto sampler = Sampler::Create(options, static_cast<int32_t>(logits.size()));
  EXPECT_TRUE(sampler.ok());
  std::map<int32_t, int> draws;
  for (int i = 0; i < count; ++i) {
    const auto id = sampler->Sample(logits, mask);
    EXPECT_TRUE(id.ok());
    ++draws[*id];
  }
  return draws;
}

TEST(Random, HasAFixedSequence) {
  Random random(0);
  EXPECT_EQ(random.Next(), 0xe220a8397b1dcdaf);
  EXPECT_EQ(random.Next(), 0x6e789e6aa1b965f4);
  for (int i = 0; i < 1000; ++i) {
    const double value = random.Uniform();
    EXPECT_GE(value, 0);
    EXPECT_LT(value, 1);
  }
}

TEST(Sampler, DrawsByProbability) {
  const std::vector<float> logits = {std::log(0.5f), std::log(0.3f),
                                     std::log(0.2f)};
  const auto draws = Draws(Plain(), logits, 20000);
  EXPECT_NEAR(draws.at(0), 10000, 300);
  EXPECT_NEAR(draws.at(1), 6000, 300);
  EXPECT_NEAR(draws.at(2), 4000, 300);
  EXPECT_EQ(Draws(Plain(), logits, 100), Draws(Plain(), logits, 100));
  SamplingOptions other = Plain();
  other.seed = 1;
  EXPECT_NE(Draws(other, logits, 100), Draws(Plain(), logits, 100));
}

TEST(Sampler, TemperatureSharpens) {
  const std::vector<float> logits = {std::log(0.6f), std::log(0.4f)};
  SamplingOptions options = Plain();
  options.temperature = 0.5f;
  // The temperature 0.5 squares the probabilities, so the first token has 0.36
  // / (0.36 + 0.16) of the draws.
  EXPECT_NEAR(Draws(options, logits, 10000).at(0), 6923, 200);
  options.temperature = 0;
  EXPECT_EQ(Draws(options, {1, 3, 3, 2}, 10).at(1), 10);
}

TEST(Sampler, KeepsTheLikeliest) {
  const std::vector<float> logits = {std::log(0.1f), std::log(0.4f),
                                     std::log(0.3f), std::log(0.2f)};
  SamplingOptions options = Plain();
  options.top_k = 2;
  EXPECT_EQ(Draws(options, logits, 2000).size(), 2);
  EXPECT_NEAR(Draws(options, logits, 7000).at(1), 4000, 200);
  options = Plain();
  options.top_p = 0.5f;  // the likeliest token has only 0.4, so the next one
                         // (0.3) is kept, too
  EXPECT_EQ(Draws(options, logits, 2000).size(), 2);
  options.top_p = 0.75f;
  EXPECT_EQ(Draws(options, logits, 2000).size(), 3);
  options = Plain();
  options.min_p = 0.6f;  // tokens of at least 0.6 * 0.4 = 0.24 are kept, which
                         // are two
  EXPECT_EQ(Draws(options, logits, 2000).size(), 2);
}

TEST(Sampler, TopPFindsItsTokensAmongMany) {
  // All tokens are equally likely. So top-p keeps more tokens than the sampler
  // sorts at first.
  const std::vector<float> logits(1000, 0.5f);
  SamplingOptions options = Plain();
  options.top_p = 0.2f;
  const auto draws = Draws(options, logits, 2000);
  EXPECT_LT(draws.rbegin()->first, 201);
  EXPECT_GT(draws.size(), 190);
}

TEST(Sampler, PenalisesAcceptedTokens) {
  SamplingOptions options = Plain();
  options.temperature = 0;
  options.penalty_window = 2;
  options.repetition_penalty = 2;
  auto sampler = Sampler::Create(options, 3);
  ASSERT_TRUE(sampler.ok());
  const std::vector<float> logits = {4, 3, -1};
  EXPECT_EQ(*sampler->Sample(logits, nullptr), 0);
  sampler->Accept(0);
  EXPECT_EQ(*sampler->Sample(logits, nullptr), 1);
  sampler->Accept(1);
  // both tokens have been accepted; the penalized logit of 0 is 2, that of 1 is
  // 1.5
  EXPECT_EQ(*sampler->Sample(logits, nullptr), 0);
  sampler->Accept(2);
  // token 0 has left the window of penalties
  EXPECT_EQ(*sampler->Sample(logits, nullptr), 0);

  options.repetition_penalty = 1;
  options.frequency_penalty = 0.3f;
  options.presence_penalty = 0.5f;
  options.penalty_window = -1;
  sampler = Sampler::Create(options, 2);
  ASSERT_TRUE(sampler.ok());
  sampler->Accept(0);
  EXPECT_EQ(*sampler->Sample(std::vector<float>{1.81f, 1}, nullptr), 0);
  sampler->Accept(0);
  EXPECT_EQ(*sampler->Sample(std::vector<float>{2.09f, 1}, nullptr), 1);
}

TEST(Sampler, BiasesAndMasksExclude) {
  SamplingOptions options = Plain();
  options.biases = {{0, -INFINITY}, {2, 1.0f}};
  EXPECT_THAT(Draws(options, {9, 1, 1}, 5000),
              testing::Not(testing::Contains(testing::Key(0))));
  TokenMask mask(3);
  mask.Add(1);
  EXPECT_EQ(mask.Count(), 1);
  EXPECT_EQ(Draws(options, {9, 1, 1}, 10, &mask).at(1), 10);
  auto sampler = Sampler::Create(options, 3);
  const TokenMask none(3);
  EXPECT_THAT(
      sampler->Sample(std::vector<float>{1, 1, 1}, &none).status().message(),
      HasSubstr("found none"));
  EXPECT_FALSE(
      sampler->Sample(std::vector<float>{NAN, NAN, -INFINITY}, nullptr).ok());
  EXPECT_THAT(
      sampler->Sample(std::vector<float>{1}, nullptr).status().message(),
      HasSubstr("expected 3 logits, found 1"));
}

TEST(Sampler, SurvivesWildLogits) {
  SamplingOptions options;
  const auto draws = Draws(options, {INFINITY, NAN, -INFINITY, 1}, 10);
  EXPECT_EQ(draws.at(0), 10);
}

TEST(Sampler, RefusesWrongOptions) {
  const auto error_of = [](auto change) {
    SamplingOptions options;
    change(&options);
    const auto sampler = Sampler::Create(options, 10);
    return sampler.ok() ? "" : std::string(sampler.status().message());
  };
  EXPECT_THAT(error_of([](auto* o) { o->temperature = -1; }),
              HasSubstr("temperature: expected at least 0"));
  EXPECT_THAT(error_of([](auto* o) { o->top_k = -1; }), HasSubstr("top_k"));
  EXPECT_THAT(error_of([](auto* o) { o->top_p = 0; }), HasSubstr("top_p"));
  EXPECT_THAT(error_of([](auto* o) { o->min_p = 2; }), HasSubstr("min_p"));
  EXPECT_THAT(error_of([](auto* o) { o->repetition_penalty = 0; }),
              HasSubstr("repetition_penalty"));
  EXPECT_THAT(error_of([](auto* o) { o->frequency_penalty = NAN; }),
              HasSubstr("frequency_penalty"));
  EXPECT_THAT(error_of([](auto* o) { o->presence_penalty = INFINITY; }),
              HasSubstr("presence_penalty"));
  EXPECT_THAT(error_of([](auto* o) { o->penalty_window = -2; }),
              HasSubstr("penalty_window"));
  EXPECT_THAT(error_of([](auto* o) { o->biases = {{10, 1.0f}}; }),
              HasSubstr("biases: expected ids below 10"));
}

TEST(StopStrings, EndTheTextAtTheFirstString) {
  auto stop = StopStrings::Create({"END", "\n\n"});
  ASSERT_TRUE(stop.ok());
  EXPECT_EQ(stop->Push("abc\n"), "abc");
  EXPECT_EQ(stop->Push("dE"), "\nd");
  EXPECT_EQ(stop->Push("N"), "");
  EXPECT_EQ(stop->Push("ENDx\n\n"), "EN");
  EXPECT_TRUE(stop->is_stopped());
  EXPECT_EQ(stop->Push("more"), "");
  EXPECT_EQ(stop->Finish(), "");
}

TEST(StopStrings, GiveBackHeldTextAtTheEnd) {
  auto stop = StopStrings::Create({"abcd", "bx"});
  ASSERT_TRUE(stop.ok());
  EXPECT_EQ(stop->Push("zabc"), "z");
  EXPECT_EQ(stop->Finish(), "abc");
  EXPECT_FALSE(stop->is_stopped());
  EXPECT_EQ(stop->Push("ab"), "");
  EXPECT_EQ(stop->Push("x"), "a");
  EXPECT_TRUE(stop->is_stopped());
}

TEST(StopStrings, RefuseEmptyAndLongOnes) {
  EXPECT_FALSE(StopStrings::Create({""}).ok());
  EXPECT_FALSE(StopStrings::Create({std::string(2000, 'a')}).ok());
  EXPECT_FALSE(StopStrings::Create(std::vector<std::string>(65, "a")).ok());
  auto none = StopStrings::Create({});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->Push("abc"), "abc");
}

std::vector<int32_t> Guess(const std::vector<int32_t>& tokens,
                           const PromptLookupOptions& options = {}) {
  const auto found = LookUpContinuation(tokens, options);
  return {found.begin(), found.end()};
}

TEST(PromptLookup, FindsTheLatestLongestMatch) {
  EXPECT_THAT(Guess({5, 6, 7, 8, 5, 6}), ElementsAre(7, 8, 5, 6));
  EXPECT_THAT(Guess({1, 2, 3, 9, 2, 3, 4, 1, 2, 3}),
              ElementsAre(9, 2, 3, 4, 1, 2, 3));
  EXPECT_THAT(Guess({2, 3, 9, 2, 3, 4, 2, 3}), ElementsAre(4, 2, 3));
  EXPECT_THAT(Guess({1, 1, 1}), ElementsAre(1));
  EXPECT_THAT(Guess({1, 2, 3}), IsEmpty());
  EXPECT_THAT(Guess({3, 1, 3}), IsEmpty());
  EXPECT_THAT(Guess({3, 1, 3}, {.shortest = 1, .guesses = 1}), ElementsAre(1));
  EXPECT_THAT(Guess({}), IsEmpty());
}

}  // namespace
}  // namespace ember::llm
