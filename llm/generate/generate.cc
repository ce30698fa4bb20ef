#include "llm/generate/generate.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "llm/grammar/json_constraint.h"
#include "llm/sampling/stop_strings.h"
#include "llm/tokenizer/text_stream.h"

namespace ember::llm {
namespace {

Status CheckPrompt(const Vocabulary& vocabulary, const LogitSource& logits,
                   std::span<const int32_t> prompt) {
  if (prompt.empty()) {
    return InvalidArgumentError(
        "prompt: expected at least one token, found none");
  }
  const int64_t room = logits.room();
  if (static_cast<int64_t>(prompt.size()) > room) {
    return ResourceExhaustedError(
        Concat({"prompt: expected at most ", room,
                " tokens, for which the state has room, found ", prompt.size(),
                "; give the state memory for more"}));
  }
  for (const int32_t id : prompt) {
    if (vocabulary.Has(id)) continue;
    return InvalidArgumentError(Concat(
        {"prompt: expected ids below ", vocabulary.size(), ", found ", id}));
  }
  return OkStatus();
}

class Loop {
 public:
  Loop(const Tokenizer& tokenizer, LogitSource& logits,
       const GenerateOptions& options, Sampler sampler, StopStrings stop)
      : tokenizer_(tokenizer),
        logits_(logits),
        options_(options),
        sampler_(std::move(sampler)),
        stop_(std::move(stop)),
        stream_(tokenizer,
                {.render_special = options.render_special, .is_start = false}) {
    if (options.json) {
      json_.emplace(*options.trie, tokenizer.definition().ends_of_generation,
                    *options.json);
    }
  }

  StatusOr<Generation> Run(std::span<const int32_t> prompt) {
    for (const int32_t id : prompt) sampler_.Accept(id);
    EMBER_ASSIGN_OR_RETURN(std::span<const float> logits, Append(prompt));
    while (!is_ended_) {
      EMBER_ASSIGN_OR_RETURN(const int32_t id, Choose(logits));
      EMBER_RETURN_IF_ERROR(Take(id));
      if (is_ended_) break;
      EMBER_ASSIGN_OR_RETURN(logits, Append({&id, 1}));
    }
    if (!stop_.is_stopped()) {
      std::string rest = stop_.Push(stream_.Finish());
      rest += stop_.Finish();
      Show(rest);
    }
    return std::move(result_);
  }

 private:
  void End(EndReason reason) {
    if (is_ended_) return;
    is_ended_ = true;
    result_.reason = reason;
  }

  // Appends tokens in chunks; the generation may end between them.
  StatusOr<std::span<const float>> Append(std::span<const int32_t> ids) {
    std::span<const float> logits;
    const auto chunk =
        static_cast<size_t>(std::max<int64_t>(options_.prompt_chunk, 1));
    while (!ids.empty()) {
      if (options_.is_cancelled && options_.is_cancelled()) {
        End(EndReason::kCancelled);
        return logits;
      }
      const size_t count = std::min(chunk, ids.size());
      EMBER_ASSIGN_OR_RETURN(logits, logits_.Append(ids.first(count)));
      ids = ids.subspan(count);
    }
    if (options_.max_tokens == 0) End(EndReason::kMaxTokens);
    return logits;
  }

  StatusOr<int32_t> Choose(std::span<const float> logits) {
    // A model may have more logits than the vocabulary has tokens, because
    // embeddings are padded.
    const auto count = static_cast<size_t>(tokenizer_.vocabulary().size());
    if (logits.size() < count) {
      return InvalidArgumentError(
          Concat({"model: expected ", count, " logits, one per token, found ",
                  logits.size()}));
    }
    return sampler_.Sample(logits.first(count),
                           json_ ? &json_->Allowed() : nullptr);
  }

  Status Take(int32_t id) {
    sampler_.Accept(id);
    if (json_) EMBER_RETURN_IF_ERROR(json_->Accept(id));
    if (tokenizer_.IsEndOfGeneration(id)) {
      End(EndReason::kEndToken);
      return OkStatus();
    }
    result_.ids.push_back(id);
    Show(stop_.Push(stream_.Push(id)));
    if (stop_.is_stopped()) End(EndReason::kStopString);
    if (options_.max_tokens >= 0 &&
        static_cast<int64_t>(result_.ids.size()) >= options_.max_tokens) {
      End(EndReason::kMaxTokens);
    }
    if (logits_.room() < 1) End(EndReason::kNoRoom);
    return OkStatus();
  }

  void Show(std::string_view text) {
    if (text.empty()) return;
    result_.text += text;
    if (options_.on_text && !options_.on_text(text)) {
      End(EndReason::kCancelled);
    }
  }

  const Tokenizer& tokenizer_;
  LogitSource& logits_;
  const GenerateOptions& options_;
  Sampler sampler_;
  StopStrings stop_;
  TextStream stream_;
  std::optional<JsonConstraint> json_;
  Generation result_;
  bool is_ended_ = false;
};

}  // namespace

StatusOr<Generation> Generate(const Tokenizer& tokenizer, LogitSource& logits,
                              std::span<const int32_t> prompt,
                              const GenerateOptions& options) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  EMBER_RETURN_IF_ERROR(CheckPrompt(vocabulary, logits, prompt));
  if (options.json &&
      (options.trie == nullptr || &options.trie->vocabulary() != &vocabulary)) {
    return InvalidArgumentError(
        "JSON: expected the trie of the tokenizer's vocabulary, found another "
        "one or none");
  }
  EMBER_ASSIGN_OR_RETURN(Sampler sampler,
                         Sampler::Create(options.sampling, vocabulary.size()));
  EMBER_ASSIGN_OR_RETURN(StopStrings stop, StopStrings::Create(options.stop));
  return Loop(tokenizer, logits, options, std::move(sampler), std::move(stop))
      .Run(prompt);
}

}  // namespace ember::llm
