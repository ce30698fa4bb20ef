// Converts the options of a generation from the C API's structs, and its result
// to them.
#include <string_view>
#include <utility>

#include "tools/llm_api/objects.h"

namespace ember::llm_api {
namespace {

StatusOr<llm::SamplingOptions> ReadSampling(const EmberLlmSampling* options) {
  llm::SamplingOptions sampling;
  if (options == nullptr) return sampling;
  const EmberLlmSampling given = CopyOptions(options);
  sampling.temperature = given.temperature;
  if (given.top_k != 0) sampling.top_k = std::max(given.top_k, 0);
  if (given.top_p != 0) sampling.top_p = given.top_p;
  if (given.min_p != 0) sampling.min_p = std::max(given.min_p, 0.0f);
  if (given.repetition_penalty != 0)
    sampling.repetition_penalty = given.repetition_penalty;
  sampling.frequency_penalty = given.frequency_penalty;
  sampling.presence_penalty = given.presence_penalty;
  if (given.penalty_window != 0)
    sampling.penalty_window = std::max(given.penalty_window, -1);
  sampling.seed = given.seed;
  if (given.bias_count > 0 &&
      (given.bias_ids == nullptr || given.biases == nullptr)) {
    return InvalidArgumentError("sampling: expected " +
                                std::to_string(given.bias_count) +
                                " biases, found NULL");
  }
  for (size_t i = 0; i < given.bias_count; ++i)
    sampling.biases.emplace_back(given.bias_ids[i], given.biases[i]);
  return sampling;
}

EmberLlmEnd EndOf(llm::EndReason reason) {
  switch (reason) {
    case llm::EndReason::kEndToken:
      return EMBER_LLM_END_TOKEN;
    case llm::EndReason::kStopString:
      return EMBER_LLM_END_STOP;
    case llm::EndReason::kMaxTokens:
      return EMBER_LLM_END_LENGTH;
    case llm::EndReason::kNoRoom:
      return EMBER_LLM_END_NO_ROOM;
    case llm::EndReason::kCancelled:
      break;
  }
  return EMBER_LLM_END_CANCELLED;
}

}  // namespace

StatusOr<llm::GenerateOptions> ReadGenerateOptions(
    Model& model, const EmberLlmGenerateOptions* options) {
  const EmberLlmGenerateOptions given = CopyOptions(options);
  llm::GenerateOptions generate;
  EMBER_ASSIGN_OR_RETURN(generate.sampling, ReadSampling(given.sampling));
  if (given.max_tokens < 0 || given.guesses < 0) {
    return InvalidArgumentError(
        "options: expected max_tokens and guesses of at least 0, found " +
        std::to_string(std::min<int64_t>(given.max_tokens, given.guesses)));
  }
  generate.max_tokens = given.max_tokens == 0 ? -1 : given.max_tokens;
  generate.guesses = given.guesses;
  for (size_t i = 0; i < given.stop_count; ++i) {
    if (given.stop == nullptr || given.stop[i] == nullptr) {
      return InvalidArgumentError("stop: expected " +
                                  std::to_string(given.stop_count) +
                                  " strings, found NULL");
    }
    generate.stop.emplace_back(given.stop[i]);
  }
  if (given.format < EMBER_LLM_TEXT || given.format > EMBER_LLM_JSON_OBJECT) {
    return InvalidArgumentError(
        "format: expected one of EmberLlmFormat, found " +
        std::to_string(given.format));
  }
  if (given.format != EMBER_LLM_TEXT) {
    generate.json =
        llm::JsonLimits{.is_object = given.format == EMBER_LLM_JSON_OBJECT};
    generate.trie = &model.Trie();
  }
  return generate;
}

void Connect(EmberLlmSequence& sequence, EmberLlmOnText on_text, void* context,
             llm::GenerateOptions& options) {
  sequence.is_cancelled = false;
  options.is_cancelled = [&sequence] { return sequence.is_cancelled.load(); };
  if (on_text == nullptr) return;
  options.on_text = [on_text, context](std::string_view text) {
    return on_text(context, text.data(), text.size()) != 0;
  };
}

void KeepResult(const llm::Generation& generation, EmberLlmSequence& sequence,
                EmberLlmGeneration* result) {
  sequence.text = generation.text;
  if (result == nullptr) return;
  const llm::TokenLoopResult& loop = generation.loop;
  const EmberLlmGeneration made = {sizeof(made),         sequence.text.c_str(),
                                   sequence.text.size(), EndOf(loop.reason),
                                   loop.prompt_tokens,   loop.generated_tokens,
                                   loop.prompt_seconds,  loop.generate_seconds};
  api::Fill(made, result);
}

}  // namespace ember::llm_api
