// Tests the sequences of the C API: the tokens that they hold after each
// function, and their use by several threads.
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "frontends/gguf/testing/sample_models.h"
#include "gtest/gtest.h"
#include "tools/llm_api/ember_llm.h"

namespace {

const EmberLlmApi& Api() { return *ember_llm_get_api(EMBER_LLM_API_VERSION); }

using Model = std::unique_ptr<EmberLlm, void (*)(EmberLlm*)>;
using Sequence = std::unique_ptr<EmberLlmSequence, void (*)(EmberLlmSequence*)>;

class Sequences : public ::testing::Test {
 protected:
  static Model Load(int64_t context = 64, bool guesses = false) {
    const std::string path = ::testing::TempDir() + "/text.gguf";
    EXPECT_TRUE(
        ember::WriteFileAtomically(path, ember::gguf::SampleModel("llama/text"))
            .ok());
    EmberSessionOptions session = {};
    session.struct_size = sizeof(session);
    session.threads = 1;
    EmberLlmOptions options = {};
    options.struct_size = sizeof(options);
    options.session = &session;
    options.context = context;
    options.guesses = guesses ? 1 : 0;
    EmberLlm* model = nullptr;
    EXPECT_EQ(Api().load(path.c_str(), &options, &model), EMBER_OK)
        << Api().error_message();
    return {model, Api().release};
  }

  static Sequence Create(const Model& model) {
    EmberLlmSequence* sequence = nullptr;
    EXPECT_EQ(Api().sequence_create(model.get(), &sequence), EMBER_OK);
    return {sequence, Api().sequence_release};
  }

  // Appends tokens to the sequence and returns the logits after the last one.
  static std::vector<float> Append(const Model& model, const Sequence& sequence,
                                   const std::vector<int32_t>& ids) {
    std::vector<float> logits(
        static_cast<size_t>(Api().vocabulary_size(model.get())));
    EXPECT_EQ(Api().sequence_append(sequence.get(), ids.data(), ids.size(),
                                    logits.data()),
              EMBER_OK)
        << Api().error_message();
    return logits;
  }

  // Generates text greedily. A bias excludes the ids 0 to 4, which end texts or
  // have no text.
  static std::string Generate(const Sequence& sequence, int64_t count,
                              int32_t guesses = 0) {
    static constexpr int32_t kIds[] = {0, 1, 2, 3, 4};
    static constexpr float kBiases[] = {-99, -99, -99, -99, -99};
    EmberLlmSampling sampling = {};
    sampling.struct_size = sizeof(sampling);
    sampling.bias_ids = kIds;
    sampling.biases = kBiases;
    sampling.bias_count = 5;
    EmberLlmGenerateOptions options = {};
    options.struct_size = sizeof(options);
    options.sampling = &sampling;
    options.max_tokens = count;
    options.guesses = guesses;
    EmberLlmGeneration generation = {};
    generation.struct_size = sizeof(generation);
    EXPECT_EQ(Api().sequence_generate(sequence.get(), &options, nullptr,
                                      nullptr, &generation),
              EMBER_OK)
        << Api().error_message();
    EXPECT_EQ(generation.end, EMBER_LLM_END_LENGTH);
    EXPECT_EQ(generation.generated_tokens, count);
    return generation.text == nullptr ? "" : generation.text;
  }
};

TEST_F(Sequences, ContinueInParts) {
  const Model model = Load();
  const Sequence whole = Create(model);
  Append(model, whole, {1, 50, 60});
  const std::string text = Generate(whole, 8);
  EXPECT_EQ(Api().sequence_length(whole.get()), 11);
  const Sequence parts = Create(model);
  Append(model, parts, {1, 50});
  Append(model, parts, {60});
  const std::string first = Generate(parts, 3);
  EXPECT_EQ(Api().sequence_length(parts.get()), 6);
  EXPECT_EQ(first + Generate(parts, 5), text);
  EXPECT_EQ(Api().sequence_length(parts.get()), 11);
}

// The first load compiles the model and keeps its module. The second one maps
// that module.
TEST_F(Sequences, ModelsAreCompiledOnce) {
  const std::string root = ::testing::TempDir() + "/kept_models";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root);
  const std::string path = root + "/text.gguf", folder = root + "/cache";
  ASSERT_TRUE(
      ember::WriteFileAtomically(path, ember::gguf::SampleModel("llama/text"))
          .ok());
  EmberLlmOptions options = {};
  options.struct_size = sizeof(options);
  options.context = 64;
  options.model_cache = folder.c_str();
  std::string texts[2];
  std::filesystem::file_time_type written;
  for (std::string& text : texts) {
    EmberLlm* loaded = nullptr;
    ASSERT_EQ(Api().load(path.c_str(), &options, &loaded), EMBER_OK)
        << Api().error_message();
    const Model model(loaded, Api().release);
    const Sequence sequence = Create(model);
    Append(model, sequence, {1, 50, 60});
    text = Generate(sequence, 8);
    int modules = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      ++modules;
      if (&text == &texts[0]) written = entry.last_write_time();
      EXPECT_EQ(entry.last_write_time(), written);
    }
    EXPECT_EQ(modules, 1);
  }
  EXPECT_EQ(texts[0], texts[1]);
  options.model_cache_bytes = -1;
  EmberLlm* loaded = nullptr;
  EXPECT_EQ(Api().load(path.c_str(), &options, &loaded),
            EMBER_INVALID_ARGUMENT);
}

TEST_F(Sequences, ForkAndTruncate) {
  const Model model = Load();
  const Sequence sequence = Create(model);
  Append(model, sequence, {1, 50, 60});
  EmberLlmSequence* made = nullptr;
  ASSERT_EQ(Api().sequence_fork(sequence.get(), &made), EMBER_OK);
  const Sequence fork(made, Api().sequence_release);
  const std::string text = Generate(sequence, 6);
  // Generating with the original sequence must not change its fork.
  EXPECT_EQ(Api().sequence_length(fork.get()), 3);
  EXPECT_EQ(Generate(fork, 6), text);
  // After truncation, appending other tokens must give the same result as
  // appending all tokens to a new sequence.
  ASSERT_EQ(Api().sequence_truncate(sequence.get(), 2), EMBER_OK);
  const std::vector<float> logits = Append(model, sequence, {70, 80});
  const Sequence other = Create(model);
  EXPECT_EQ(Append(model, other, {1, 50, 70, 80}).size(), logits.size());
  EXPECT_EQ(Generate(sequence, 6), Generate(other, 6));
  // Truncating to 8 tokens removes the last generated token, whose state is not
  // computed yet. Truncating to 3 leaves no logits, so generating must compute
  // them again.
  ASSERT_EQ(Api().sequence_truncate(fork.get(), 8), EMBER_OK);
  ASSERT_EQ(Api().sequence_truncate(fork.get(), 3), EMBER_OK);
  EXPECT_EQ(Generate(fork, 6), text);
  EXPECT_EQ(Api().sequence_truncate(fork.get(), 10), EMBER_INVALID_ARGUMENT);
}

TEST_F(Sequences, SaveAndRestore) {
  const std::string path = ::testing::TempDir() + "/sequence.state";
  const Model model = Load();
  const Sequence sequence = Create(model);
  Append(model, sequence, {1, 50, 60});
  Generate(sequence, 4);
  // Saving must first compute the last token of the text, which is still
  // pending.
  ASSERT_EQ(Api().sequence_save(sequence.get(), path.c_str()), EMBER_OK)
      << Api().error_message();
  const std::string text = Generate(sequence, 6);
  const Sequence restored = Create(model);
  Append(model, restored, {1, 7});
  ASSERT_EQ(Api().sequence_restore(restored.get(), path.c_str()), EMBER_OK)
      << Api().error_message();
  EXPECT_EQ(Api().sequence_length(restored.get()), 7);
  EXPECT_EQ(Generate(restored, 6), text);
  const std::string damaged = ::testing::TempDir() + "/damaged.state";
  ASSERT_TRUE(ember::WriteFileAtomically(damaged, "no state").ok());
  EXPECT_NE(Api().sequence_restore(restored.get(), damaged.c_str()), EMBER_OK);
  EXPECT_EQ(Api().sequence_length(restored.get()), 0);
}

TEST_F(Sequences, GuessesChangeNothing) {
  const Model model = Load(/*context=*/128, /*guesses=*/true);
  const Sequence plain = Create(model), guessing = Create(model);
  Append(model, plain, {1, 50, 60, 50, 60});
  Append(model, guessing, {1, 50, 60, 50, 60});
  EXPECT_EQ(Generate(plain, 100), Generate(guessing, 100, 5));
  EXPECT_EQ(Api().sequence_length(plain.get()),
            Api().sequence_length(guessing.get()));
}

TEST_F(Sequences, RefuseWrongCalls) {
  const Model model = Load(/*context=*/4);
  const Sequence sequence = Create(model);
  EXPECT_EQ(Api().sequence_generate(sequence.get(), nullptr, nullptr, nullptr,
                                    nullptr),
            EMBER_FAILED_PRECONDITION);
  const int32_t ids[] = {1, 5, 6, 7, 8};
  EXPECT_EQ(Api().sequence_append(sequence.get(), ids, 5, nullptr),
            EMBER_RESOURCE_EXHAUSTED);
  EXPECT_STREQ(Api().error_message(),
               "the context is full: expected at most 4 tokens, found 5; load "
               "the model with a larger context, or truncate the sequence");
  const int32_t wrong = 102;
  EXPECT_EQ(Api().sequence_append(sequence.get(), &wrong, 1, nullptr),
            EMBER_INVALID_ARGUMENT);
  EXPECT_STREQ(Api().error_message(), "ids: expected ids below 102, found 102");
  EXPECT_EQ(Api().sequence_length(sequence.get()), 0);
  // The model was loaded without EmberLlmOptions::guesses, so asking for
  // guesses is an error.
  ASSERT_EQ(Api().sequence_append(sequence.get(), ids, 2, nullptr), EMBER_OK);
  EmberLlmGenerateOptions options = {};
  options.struct_size = sizeof(options);
  options.guesses = 2;
  EXPECT_EQ(Api().sequence_generate(sequence.get(), &options, nullptr, nullptr,
                                    nullptr),
            EMBER_FAILED_PRECONDITION);
  // The failed call must leave the sequence unchanged, so that it can be
  // continued.
  EXPECT_EQ(Api().sequence_length(sequence.get()), 2);
  EXPECT_FALSE(Generate(sequence, 2).empty());
  EXPECT_EQ(Api().sequence_length(sequence.get()), 4);
}

TEST_F(Sequences, OutliveTheModelsHandle) {
  Model model = Load();
  const Sequence sequence = Create(model);
  Append(model, sequence, {1, 50});
  model.reset();
  EXPECT_FALSE(Generate(sequence, 3).empty());
}

TEST_F(Sequences, ThreadsShareAModel) {
  const Model model = Load();
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (std::string& text : texts) {
    threads.emplace_back([&model, &text] {
      const Sequence sequence = Create(model);
      Append(model, sequence, {1, 50, 60});
      text = Generate(sequence, 20);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
  EXPECT_FALSE(texts[0].empty());
}

TEST_F(Sequences, AreCancelledByAnotherThread) {
  const Model model = Load(/*context=*/60000);
  const Sequence sequence = Create(model);
  Append(model, sequence, {1, 50, 60});
  std::atomic<bool> has_begun{false};
  std::thread canceller([&] {
    while (!has_begun) std::this_thread::yield();
    Api().sequence_cancel(sequence.get());
  });
  EmberLlmSampling sampling = {};
  sampling.struct_size = sizeof(sampling);
  sampling.temperature = 5;
  sampling.top_k = -1;
  sampling.top_p = 1;
  sampling.min_p = -1;
  EmberLlmGenerateOptions options = {};
  options.struct_size = sizeof(options);
  options.sampling = &sampling;
  EmberLlmGeneration generation = {};
  generation.struct_size = sizeof(generation);
  const int32_t ends[] = {2, 3, 4};
  const float biases[] = {-99, -99, -99};
  sampling.bias_ids = ends;
  sampling.biases = biases;
  sampling.bias_count = 3;
  EXPECT_EQ(Api().sequence_generate(
                sequence.get(), &options,
                [](void* context, const char*, size_t) -> int32_t {
                  *static_cast<std::atomic<bool>*>(context) = true;
                  return 1;
                },
                &has_begun, &generation),
            EMBER_OK)
      << Api().error_message();
  canceller.join();
  EXPECT_EQ(generation.end, EMBER_LLM_END_CANCELLED);
  // A cancelled sequence must be usable again.
  EXPECT_FALSE(Generate(sequence, 2).empty());
}

}  // namespace
