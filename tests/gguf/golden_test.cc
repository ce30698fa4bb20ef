// Compares the sample models with what llama.cpp computes of them (golden.h).
#include "tests/gguf/golden.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/byte_cursor.h"
#include "frontends/gguf/import.h"
#include "frontends/gguf/testing/sample_models.h"
#include "tests/gguf/sample_session.h"

namespace ember::gguf {
namespace {

// Returns log(sum exp(logits)).
double LogSum(std::span<const float> logits) {
  double sum = 0;
  for (const float logit : logits) sum += std::exp(double{logit});
  return std::log(sum);
}

// Returns the tolerance for a model, because llama.cpp rounds more than Ember:
// it takes GELU (by the hyperbolic tangent) from a table of f16, and for packed
// weights it rounds activations to 8 bits.
double ToleranceOf(std::string_view name) {
  if (name == "llama/packed") return 0.15;
  for (const std::string_view gelu : {"gemma", "gpt2", "falcon", "bert"})
    if (name.starts_with(gelu)) return 1e-2;
  return 3e-4;
}

void ExpectStep(std::span<const float> logits,
                const std::vector<GoldenToken>& golden, const std::string& what,
                double tolerance) {
  const double sum = LogSum(logits);
  for (const GoldenToken& token : golden) {
    ASSERT_LT(token.token, static_cast<int64_t>(logits.size())) << what;
    EXPECT_NEAR(logits[static_cast<size_t>(token.token)] - sum,
                std::log(token.probability), tolerance)
        << what << ", token " << token.token;
  }
}

void ExpectSteps(const GoldenModel& golden) {
  const std::string name(golden.name);
  SampleSession session(SampleModel(golden.name));
  std::vector<float> logits = session.Append(kGoldenPrompt);
  for (size_t step = 0; step < golden.steps.size(); ++step) {
    ASSERT_EQ(logits.size(), 24u) << name;
    ExpectStep(logits, golden.steps[step],
               name + " step " + std::to_string(step),
               ToleranceOf(golden.name));
    if (step < kGoldenForced.size())
      logits = session.Append({kGoldenForced[step]});
  }
}

void ExpectEmbedding(const GoldenModel& golden) {
  const std::vector<float> got = Embed(SampleModel(golden.name), kGoldenPrompt);
  ASSERT_GE(got.size(), golden.embedding.size()) << golden.name;
  for (size_t i = 0; i < golden.embedding.size(); ++i) {
    EXPECT_NEAR(got[i], golden.embedding[i], ToleranceOf(golden.name))
        << golden.name << " element " << i;
  }
}

TEST(Golden, EveryArchitectureIsThere) {
  EXPECT_EQ(kGolden.size(), SampleModelNames().size());
}

class GoldenTest : public testing::TestWithParam<size_t> {};

TEST_P(GoldenTest, AgreesWithLlamaCpp) {
  const GoldenModel& golden = kGolden[GetParam()];
  if (golden.embedding.empty()) {
    ExpectSteps(golden);
  } else {
    ExpectEmbedding(golden);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, GoldenTest, testing::Range(size_t{0}, kGolden.size()),
    [](const testing::TestParamInfo<size_t>& info) {
      std::string name;
      for (const char c : kGolden[info.param].name)
        name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      return name;
    });

// The last logits must not depend on how a prompt is passed: in one run, in two
// parts, or token by token.
TEST(Sequences, PartsOfAPromptAreEqualToTheWhole) {
  for (const std::string_view name : {"llama", "gemma3", "lfm2", "llama/moe"}) {
    const std::vector<int32_t> tokens = {1, 7, 8, 9, 11, 5, 3, 20};
    SampleSession whole(SampleModel(name)), halves(SampleModel(name)),
        single(SampleModel(name));
    const std::vector<float> want = whole.Append(tokens);
    halves.Append({tokens.begin(), tokens.begin() + 5});
    const std::vector<float> got =
        halves.Append({tokens.begin() + 5, tokens.end()});
    std::vector<float> last;
    for (const int32_t token : tokens) last = single.Append({token});
    ASSERT_EQ(got.size(), want.size()) << name;
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(got[i], want[i], 2e-5) << name << " " << i;
      EXPECT_NEAR(last[i], want[i], 2e-5) << name << " " << i;
    }
  }
}

// Importing with the entry "all" gives the logits of every position, with
// "hidden" the hidden state and no logits.
TEST(Sequences, EntriesChooseTheResult) {
  const std::string model = SampleModel("llama");
  const auto import = [&](const std::string& entry) {
    return ImportModelBytes(AsBytes(model), nullptr, {.entry = entry});
  };
  const auto all = import("all");
  ASSERT_TRUE(all.ok()) << all.status().ToString();
  EXPECT_EQ(graph::ShapeToString(all->outputs()[0]->shape()),
            "[batch, sequence, 24]");
  const auto hidden = import("hidden");
  ASSERT_TRUE(hidden.ok()) << hidden.status().ToString();
  EXPECT_EQ(graph::ShapeToString(hidden->outputs()[0]->shape()),
            "[batch, sequence, 32]");
  const auto other = import("other");
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.status().message().find("last"), std::string_view::npos)
      << other.status().ToString();
}

// Keys and values of 8 or 16 bits change logits only by their rounding. A sum
// whose f32 terms are added in another order may round a key to the
// neighbouring value of few bits. So the logits of a whole prompt and of single
// tokens may differ as much.
TEST(Sequences, KeysOfFewBits) {
  for (const std::string_view name : {"llama", "gemma3", "lfm2"}) {
    const std::string model = SampleModel(name);
    const std::vector<int32_t> tokens = {1, 7, 8, 9, 11, 5, 3, 20};
    const std::vector<float> want = SampleSession(model).Append(tokens);
    for (const DType type : {DType::kF16, DType::kBF16, DType::kI8}) {
      const auto import = [&] {
        return ImportModelBytes(AsBytes(model), nullptr, {.state_type = type});
      };
      SampleSession whole(import()), single(import());
      const std::vector<float> got = whole.Append(tokens);
      std::vector<float> last;
      for (const int32_t token : tokens) last = single.Append({token});
      ASSERT_EQ(got.size(), want.size()) << name;
      ASSERT_EQ(last.size(), want.size()) << name;
      const double tolerance = type == DType::kF16    ? 2e-3
                               : type == DType::kBF16 ? 2e-2
                                                      : 3e-2;
      double difference = 0;
      for (size_t i = 0; i < want.size(); ++i) {
        EXPECT_NEAR(got[i], want[i], tolerance) << name << " " << i;
        EXPECT_NEAR(last[i], got[i], tolerance) << name << " " << i;
        difference += std::abs(got[i] - want[i]);
      }
      EXPECT_GT(difference, 0) << name << ": expected rounded keys";
    }
  }
}

// The state has room for four tokens, so a run with a fifth one must be
// refused.
TEST(Sequences, AFullContextIsRefused) {
  SampleSession session(SampleModel("llama"), /*context=*/4);
  EXPECT_FALSE(session.Append({1, 2, 3, 4}).empty());
  EXPECT_TRUE(session.Append({5}).empty());
  EXPECT_NE(session.error().find("context is full"), std::string::npos)
      << session.error();
}

}  // namespace
}  // namespace ember::gguf
