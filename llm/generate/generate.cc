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
  const int64_t room = logits.room();
  if (static_cast<int64_t>(prompt.size()) > room) {
    return ResourceExhaustedError(
        Concat({"prompt: expected at most ", room,
                " tokens, for which the context has room, found ",
                prompt.size(), "; give a larger context"}));
  }
  for (const int32_t id : prompt) {
    if (vocabulary.Has(id)) continue;
    return InvalidArgumentError(Concat(
        {"prompt: expected ids below ", vocabulary.size(), ", found ", id}));
  }
  return OkStatus();
}

class TextChooser : public TokenChooser {
 public:
  TextChooser(const Tokenizer& tokenizer, const GenerateOptions& options,
              Sampler sampler, StopStrings stop)
      : tokenizer_(tokenizer),
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

  // Passes the tokens of the prompt to the sampler, whose penalties count them.
  void Accept(std::span<const int32_t> ids) {
    for (const int32_t id : ids) sampler_.Accept(id);
  }

  StatusOr<int32_t> Choose(std::span<const float> logits) override {
    // A model may compute more logits than the vocabulary has tokens, because
    // its embedding is padded. The surplus is ignored.
    const auto count = static_cast<size_t>(tokenizer_.vocabulary().size());
    if (logits.size() < count) {
      return InvalidArgumentError(
          Concat({"model: expected ", count,
                  " logits, one per token of the tokenizer, found ",
                  logits.size(), "; give the tokenizer of this model"}));
    }
    return sampler_.Sample(logits.first(count),
                           json_ ? &json_->Allowed() : nullptr);
  }

  StatusOr<std::optional<EndReason>> Take(int32_t id) override {
    sampler_.Accept(id);
    if (json_) EMBER_RETURN_IF_ERROR(json_->Accept(id));
    if (tokenizer_.IsEndOfGeneration(id) ||
        std::ranges::count(options_.stop_ids, id) > 0) {
      return std::optional(EndReason::kEndToken);
    }
    result_.ids.push_back(id);
    const bool is_wanted = Show(stop_.Push(stream_.Push(id)));
    if (stop_.is_stopped()) return std::optional(EndReason::kStopString);
    if (!is_wanted) return std::optional(EndReason::kCancelled);
    return std::optional<EndReason>();
  }

  // Passes on the text that was held back (parts of characters and of stop
  // strings), and returns the result.
  Generation Finish(const TokenLoopResult& loop) {
    if (!stop_.is_stopped()) {
      std::string rest = stop_.Push(stream_.Finish());
      rest += stop_.Finish();
      Show(rest);
    }
    result_.loop = loop;
    return std::move(result_);
  }

 private:
  // Passes a text on to the caller. Returns false if the caller wants no more.
  bool Show(std::string_view text) {
    if (text.empty()) return true;
    result_.text += text;
    return !options_.on_text || options_.on_text(text);
  }

  const Tokenizer& tokenizer_;
  const GenerateOptions& options_;
  Sampler sampler_;
  StopStrings stop_;
  TextStream stream_;
  std::optional<JsonConstraint> json_;
  Generation result_;
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
  TextChooser chooser(tokenizer, options, std::move(sampler), std::move(stop));
  chooser.Accept(logits.ids());
  chooser.Accept(prompt);
  const TokenLoopOptions loop_options = {.max_tokens = options.max_tokens,
                                         .prompt_chunk = options.prompt_chunk,
                                         .guesses = options.guesses,
                                         .first_logits = options.first_logits,
                                         .is_cancelled = options.is_cancelled};
  EMBER_ASSIGN_OR_RETURN(const TokenLoopResult loop,
                         RunTokenLoop(logits, prompt, loop_options, chooser));
  return chooser.Finish(loop);
}

}  // namespace ember::llm
