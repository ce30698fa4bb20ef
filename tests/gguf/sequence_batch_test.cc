// Compares sequences of different lengths that run together with the same
// sequences that run alone.
#include "tools/lib/generate/sequence_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_cursor.h"
#include "frontends/gguf/import.h"
#include "frontends/gguf/testing/sample_models.h"
#include "tests/gguf/sample_session.h"

namespace ember::gguf {
namespace {

using tools::SequenceBatch;
using tools::SequencePart;

constexpr size_t kSequences = 8;
constexpr int64_t kContext = 40;

class SequenceBatchTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    StatusOr<std::unique_ptr<vm::Session>> session = OpenSession(
        ImportModelBytes(AsBytes(SampleModel(GetParam())), nullptr,
                         {.entry = "sequences:8", .state_type = state_type_}));
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    session_ = *std::move(session);
    shared_ = std::make_unique<tools::SharedSession>(*session_);
    StatusOr<SequenceBatch> batch = SequenceBatch::Create(*shared_, kContext);
    ASSERT_TRUE(batch.ok()) << batch.status().ToString();
    batch_.emplace(*std::move(batch));
    ASSERT_EQ(batch_->size(), kSequences);
    for (size_t i = 0; i < kSequences; ++i) {
      alone_.push_back(std::make_unique<SampleSession>(
          ImportModelBytes(AsBytes(SampleModel(GetParam())), nullptr,
                           {.state_type = state_type_}),
          kContext));
    }
  }

  // Appends tokens to sequences of the batch and to those that run alone, and
  // compares the logits.
  void Step(const std::vector<std::pair<size_t, std::vector<int32_t>>>& parts) {
    std::vector<SequencePart> step;
    for (const auto& [sequence, tokens] : parts)
      step.push_back({sequence, tokens});
    const auto rows = batch_->Append(step);
    ASSERT_TRUE(rows.ok()) << rows.status().ToString();
    ASSERT_EQ(rows->size(), parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::vector<float> want =
          alone_[parts[i].first]->Append(parts[i].second);
      ASSERT_EQ((*rows)[i].size(), want.size());
      for (size_t j = 0; j < want.size(); ++j) {
        EXPECT_NEAR((*rows)[i][j], want[j], 1e-5)
            << "sequence " << parts[i].first << ", logit " << j;
      }
    }
  }

  std::optional<DType> state_type_;
  std::unique_ptr<vm::Session> session_;
  std::unique_ptr<tools::SharedSession> shared_;
  std::optional<SequenceBatch> batch_;
  std::vector<std::unique_ptr<SampleSession>> alone_;
};

TEST_P(SequenceBatchTest, EqualToPlainRuns) {
  // In the first step all sequences get prompts, of different lengths.
  std::vector<std::pair<size_t, std::vector<int32_t>>> prompts;
  for (size_t i = 0; i < kSequences; ++i) {
    std::vector<int32_t> tokens;
    for (size_t j = 0; j <= 2 * i; ++j)
      tokens.push_back(static_cast<int32_t>((3 + 7 * i + 5 * j) % 24));
    prompts.emplace_back(i, tokens);
  }
  Step(prompts);
  // In the next two steps each sequence gets one token.
  std::vector<std::pair<size_t, std::vector<int32_t>>> tokens;
  for (size_t i = 0; i < kSequences; ++i)
    tokens.push_back({i, {static_cast<int32_t>(i + 2)}});
  Step(tokens);
  Step(tokens);
  // Only three sequences take part in this step, in another order, and one of
  // them gets several tokens.
  Step({{6, {9}}, {1, {4, 5, 6}}, {3, {1}}});
  Step({{7, {11}}});
  // Sequence 2 is cut to nothing and begins anew.
  ASSERT_TRUE(batch_->Truncate(2, 0).ok());
  alone_[2] =
      std::make_unique<SampleSession>(SampleModel(GetParam()), kContext);
  Step({{0, {8}}, {2, {5, 20, 7}}, {5, {2, 2}}});
  Step(tokens);
}

// The models differ in what a batch must treat separately: gemma3 has attention
// windows, lfm2 convolutions, qwen3moe experts, and gpt2 learned positions.
INSTANTIATE_TEST_SUITE_P(Models, SequenceBatchTest,
                         ::testing::Values("llama", "llama/packed", "gemma3",
                                           "lfm2", "qwen3moe", "gpt2"));

class OneSequenceBatch : public SequenceBatchTest {};

TEST_P(OneSequenceBatch, RefusesWrongParts) {
  const std::vector<int32_t> token = {1};
  const std::vector<int32_t> many(kContext, 1);
  const auto error = [&](const std::vector<SequencePart>& parts) {
    return batch_->Append(parts).status().ToString();
  };
  EXPECT_NE(error({}).find("found none"), std::string::npos);
  EXPECT_NE(error({{8, token}}).find("below 8"), std::string::npos);
  EXPECT_NE(error({{1, token}, {1, token}}).find("twice"), std::string::npos);
  EXPECT_NE(error({{1, {}}}).find("sequence 1"), std::string::npos);
  ASSERT_TRUE(batch_->Append(std::vector<SequencePart>{{4, many}}).ok());
  EXPECT_EQ(batch_->room(4), 0);
  EXPECT_EQ(batch_->room(5), kContext);
  EXPECT_NE(error({{5, token}, {4, token}}).find("context is full"),
            std::string::npos);
  // The refused steps must have left the sequences as they were.
  EXPECT_EQ(batch_->room(5), kContext);
  ASSERT_TRUE(batch_->Truncate(4, 3).ok());
  EXPECT_EQ(batch_->ids(4).size(), 3u);
  EXPECT_FALSE(batch_->Truncate(4, 4).ok());
}

TEST_P(OneSequenceBatch, ModulesOfOneSequenceAreRefused) {
  const auto session =
      OpenSession(ImportModelBytes(AsBytes(SampleModel("llama")), nullptr, {}));
  ASSERT_TRUE(session.ok());
  tools::SharedSession shared(**session);
  EXPECT_FALSE(SequenceBatch::IsFor(shared.module()));
  EXPECT_NE(SequenceBatch::Create(shared, 8).status().message().find(
                "--entry=sequences:8"),
            std::string::npos);
  for (const char* entry : {"sequences:0", "sequences:65", "sequences:8x"}) {
    const auto graph = ImportModelBytes(AsBytes(SampleModel("llama")), nullptr,
                                        {.entry = entry});
    ASSERT_FALSE(graph.ok());
    EXPECT_NE(graph.status().message().find("1 to 64"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, OneSequenceBatch, ::testing::Values("llama"));

}  // namespace
}  // namespace ember::gguf
