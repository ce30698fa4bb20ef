#include "tools/lib/generate/language_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "frontends/gguf/testing/sample_models.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/models/load_model.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;
using Logits = std::vector<float>;

struct Opened {
  std::unique_ptr<vm::Session> session;
  std::unique_ptr<SharedSession> shared;
};

Opened Open(std::string_view name, const std::string& entry) {
  const std::string path = ::testing::TempDir() + "/model.gguf";
  EXPECT_TRUE(WriteFileAtomically(path, gguf::SampleModel(name)).ok());
  LoadOptions options;
  options.entry = entry;
  auto loaded = LoadModel(path, options);
  EXPECT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_EQ(TrainedContext(*loaded->module), 512);
  auto device = OpenDevice("cpu", 1);
  EXPECT_TRUE(device.ok());
  Opened opened;
  opened.session =
      *vm::Session::Create(loaded->module, {.device = *std::move(device)});
  opened.shared = std::make_unique<SharedSession>(*opened.session);
  return opened;
}

Logits Append(LanguageModel& model, const std::vector<int32_t>& ids) {
  const auto logits = model.Append(ids);
  EXPECT_TRUE(logits.ok()) << logits.status().ToString();
  return logits.ok() ? Logits(logits->begin(), logits->end()) : Logits();
}

void ExpectNear(std::span<const float> found, const Logits& expected) {
  ASSERT_EQ(found.size(), expected.size());
  ASSERT_FALSE(found.empty());
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], 1e-4 + 1e-4 * std::abs(expected[i]));
}

class EachModel : public ::testing::TestWithParam<std::string_view> {};

TEST_P(EachModel, ForksAndShortens) {
  const Opened opened = Open(GetParam(), "all");
  auto created = LanguageModel::Create(*opened.shared, 32);
  ASSERT_TRUE(created.ok()) << created.status().ToString();
  LanguageModel& model = *created;
  const Logits first = Append(model, {1, 7, 8});
  auto fork = model.Fork();
  ASSERT_TRUE(fork.ok());
  const Logits second = Append(model, {9, 10});
  EXPECT_EQ(fork->past(), 3);
  ExpectNear(Append(*fork, {9, 10}), second);
  EXPECT_EQ(std::vector<int32_t>(fork->ids().begin(), fork->ids().end()),
            (std::vector<int32_t>{1, 7, 8, 9, 10}));
  // A sequence that was emptied gives the same logits as a new one.
  ASSERT_TRUE(model.Truncate(0).ok());
  EXPECT_EQ(model.room(), 32);
  ExpectNear(Append(model, {1, 7, 8}), first);
  // A state of keys and values can be shortened to any length. A convolution's
  // state has only the last tokens, so it cannot be shortened.
  Append(model, {11, 12});
  const Status shortened = model.Truncate(3);
  EXPECT_EQ(shortened.ok(), GetParam() != "lfm2");
  EXPECT_EQ(model.CheckGuesses().ok(), GetParam() != "lfm2");
  if (!shortened.ok()) {
    EXPECT_EQ(model.past(), 5);
    return;
  }
  ExpectNear(Append(model, {9, 10}), second);
  // Each row of logits from AppendAll equals the logits of appending the tokens
  // one by one.
  ASSERT_TRUE(model.Truncate(1).ok());
  const auto rows = model.AppendAll(std::vector<int32_t>{7, 8, 9, 10});
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  ASSERT_EQ(rows->size(), 4 * first.size());
  ExpectNear(rows->subspan(first.size(), first.size()), first);
  ExpectNear(rows->last(first.size()), second);
}

// A state that starts small and grows with the sequence gives the same logits
// as a state that is large from the beginning.
TEST_P(EachModel, Grows) {
  const Opened opened = Open(GetParam(), "all");
  auto small = LanguageModel::Create(*opened.shared, 2, 64);
  auto large = LanguageModel::Create(*opened.shared, 64);
  ASSERT_TRUE(small.ok() && large.ok());
  // In this model the rotary embedding depends on the size of the state, so the
  // state has its full size from the beginning.
  if (GetParam() == "phi3/longrope") {
    EXPECT_EQ(small->context(), 64);
    return;
  }
  EXPECT_EQ(small->context(), 2);
  EXPECT_EQ(small->room(), 64);
  for (const std::vector<int32_t>& tokens :
       {std::vector<int32_t>{1}, {7, 8, 9}, {10}, {3, 4, 5, 6}, {11}, {2, 2}})
    ExpectNear(Append(*small, tokens), Append(*large, tokens));
  EXPECT_EQ(small->context(), 16);
  ASSERT_TRUE(small->Grow(40).ok());
  EXPECT_EQ(small->context(), 40);
  EXPECT_EQ(small->Grow(65).code(), StatusCode::kResourceExhausted);
  auto fork = small->Fork();
  ASSERT_TRUE(fork.ok());
  const std::vector<int32_t> many(52, 5);
  const Logits expected = Append(*large, many);
  ExpectNear(Append(*small, many), expected);
  ExpectNear(Append(*fork, many), expected);
  EXPECT_EQ(small->room(), 0);
  const std::vector<int32_t> one = {1};
  EXPECT_EQ(small->Append(one).status().code(), StatusCode::kResourceExhausted);
}

std::vector<std::string_view> Decoders() {
  std::vector<std::string_view> names;
  for (const std::string_view name : gguf::SampleModelNames())
    if (!name.ends_with("bert")) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, EachModel, ::testing::ValuesIn(Decoders()),
                         [](const auto& info) {
                           std::string name(info.param);
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

TEST(LanguageModel, NeedsLogitsOfAllPositionsForGuesses) {
  const Opened opened = Open("llama", "");
  auto model = LanguageModel::Create(*opened.shared, 8);
  ASSERT_TRUE(model.ok());
  EXPECT_THAT(std::string(model->CheckGuesses().message()),
              HasSubstr("compile it with --entry=all"));
  EXPECT_FALSE(model->AppendAll(std::vector<int32_t>{1, 2}).ok());
  EXPECT_EQ(model->past(), 0);
}

TEST(LanguageModel, SizesAndErrors) {
  const Opened opened = Open("llama", "");
  auto model = LanguageModel::Create(*opened.shared, 8);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->vocabulary(), 24);
  // The state has 2 layers, each with keys and values, of 2 heads with 8
  // elements of 4 bytes.
  EXPECT_EQ(model->state_bytes_per_token(), 2 * 2 * 2 * 8 * 4);
  EXPECT_EQ(model->state_bytes(), 8 * model->state_bytes_per_token());
  EXPECT_FALSE(model->Append({}).ok());
  EXPECT_FALSE(model->Truncate(1).ok());
  EXPECT_FALSE(model->Truncate(-1).ok());
  const std::vector<int32_t> nine(9, 1);
  EXPECT_EQ(model->Append(nine).status().code(),
            StatusCode::kResourceExhausted);
  // The id 24 is not in the vocabulary of 24 tokens. The call must fail and
  // leave the sequence empty.
  EXPECT_FALSE(model->Append(std::vector<int32_t>{1, 24}).ok());
  EXPECT_EQ(model->past(), 0);
  Append(*model, {1, 2});
  EXPECT_EQ(model->room(), 6);
}

TEST(LanguageModel, RefusesEncoders) {
  const Opened opened = Open("bert", "");
  const auto model = LanguageModel::Create(*opened.shared, 8);
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("expected a language model"));
}

}  // namespace
}  // namespace ember::tools
