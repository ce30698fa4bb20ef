#include "llm/generate/token_loop.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "llm/sampling/prompt_lookup.h"

namespace ember::llm {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Loop {
 public:
  Loop(LogitSource& source, const TokenLoopOptions& options,
       TokenChooser& chooser)
      : source_(source),
        options_(options),
        chooser_(chooser),
        logits_(options.first_logits) {}

  StatusOr<TokenLoopResult> Run(std::span<const int32_t> prompt) {
    const Clock::time_point begin = Clock::now();
    if (options_.guesses > 0) {
      const auto before = source_.ids();
      tokens_.assign(before.begin(), before.end());
      tokens_.insert(tokens_.end(), prompt.begin(), prompt.end());
    }
    EMBER_RETURN_IF_ERROR(AppendPrompt(prompt));
    result_.prompt_seconds = SecondsSince(begin);
    if (options_.max_tokens == 0) End(EndReason::kMaxTokens);
    const Clock::time_point first = Clock::now();
    while (!reason_) {
      const Status status = Step();
      if (status.ok()) continue;
      // Wrong guesses are removed from the sequence even after an error. The
      // first error is the one that is returned.
      (void)RemoveWrongGuesses();
      return status;
    }
    result_.generate_seconds = SecondsSince(first);
    result_.reason = *reason_;
    return result_;
  }

 private:
  // Ends the loop. If several reasons occur in one step, the first one is
  // reported.
  void End(EndReason reason) {
    if (!reason_) reason_ = reason;
  }

  bool IsCancelled() const {
    return options_.is_cancelled && options_.is_cancelled();
  }

  // Returns the result of an append. If the append was cancelled because the
  // caller asked for it, the loop ends with that reason, without logits and
  // without an error.
  StatusOr<std::span<const float>> Checked(
      StatusOr<std::span<const float>> logits) {
    if (logits.ok() || logits.status().code() != StatusCode::kCancelled ||
        !IsCancelled()) {
      return logits;
    }
    End(EndReason::kCancelled);
    return std::span<const float>();
  }

  Status AppendPrompt(std::span<const int32_t> rest) {
    const auto chunk =
        static_cast<size_t>(std::max<int64_t>(options_.prompt_chunk, 1));
    while (!rest.empty()) {
      if (IsCancelled()) {
        End(EndReason::kCancelled);
        return OkStatus();
      }
      const size_t count = std::min(chunk, rest.size());
      EMBER_ASSIGN_OR_RETURN(logits_,
                             Checked(source_.Append(rest.first(count))));
      if (reason_) return OkStatus();
      result_.prompt_tokens += static_cast<int64_t>(count);
      rest = rest.subspan(count);
    }
    return OkStatus();
  }

  // Chooses a token and computes the logits after it. If the token was guessed
  // rightly in an earlier step, its logits are known already.
  Status Step() {
    EMBER_ASSIGN_OR_RETURN(const int32_t id, chooser_.Choose(logits_));
    EMBER_ASSIGN_OR_RETURN(const std::optional<EndReason> reason,
                           chooser_.Take(id));
    ++result_.generated_tokens;
    if (reason) End(*reason);
    if (options_.max_tokens >= 0 &&
        result_.generated_tokens >= options_.max_tokens) {
      End(EndReason::kMaxTokens);
    }
    if (options_.guesses > 0) tokens_.push_back(id);
    if (!reason_ && right_ < guesses_.size() && guesses_[right_] == id) {
      ++right_;
      ++result_.right_guesses;
      logits_ = rows_.subspan(right_ * logits_.size(), logits_.size());
      return OkStatus();
    }
    EMBER_RETURN_IF_ERROR(RemoveWrongGuesses());
    if (source_.room() < 1) End(EndReason::kNoRoom);
    if (!reason_ && IsCancelled()) End(EndReason::kCancelled);
    if (reason_) return OkStatus();
    return Append(id);
  }

  Status RemoveWrongGuesses() {
    const size_t wrong = guesses_.size() - right_;
    guesses_.clear();
    right_ = 0;
    if (wrong == 0) return OkStatus();
    return source_.Truncate(static_cast<int64_t>(source_.ids().size() - wrong));
  }

  void Guess() {
    if (options_.guesses <= 0) return;
    int64_t most = std::min(options_.guesses, source_.room() - 1);
    if (options_.max_tokens >= 0) {
      // One guess fewer than tokens that may still be generated, because the
      // last token needs no logits after it.
      most = std::min(most, options_.max_tokens - result_.generated_tokens - 1);
    }
    if (most < 1) return;
    const std::span<const int32_t> found =
        LookUpContinuation(tokens_, {.guesses = static_cast<size_t>(most)});
    guesses_.assign(found.begin(), found.end());
    result_.guessed_tokens += static_cast<int64_t>(guesses_.size());
  }

  Status Append(int32_t id) {
    Guess();
    if (guesses_.empty()) {
      EMBER_ASSIGN_OR_RETURN(logits_, Checked(source_.Append({&id, 1})));
      return OkStatus();
    }
    std::vector<int32_t> step = {id};
    step.insert(step.end(), guesses_.begin(), guesses_.end());
    EMBER_ASSIGN_OR_RETURN(rows_, Checked(source_.AppendAll(step)));
    if (reason_) return OkStatus();
    logits_ = rows_.first(rows_.size() / step.size());
    return OkStatus();
  }

  LogitSource& source_;
  const TokenLoopOptions& options_;
  TokenChooser& chooser_;
  TokenLoopResult result_;
  std::optional<EndReason> reason_;
  std::span<const float> logits_;
  // All tokens of the sequence, including the chosen one that is not appended
  // yet. They are kept only if guesses are made.
  std::vector<int32_t> tokens_;
  // `guesses_`: the guessed tokens of the last step. `right_`: how many of them
  // the chooser has chosen so far. `rows_`: the logits after each token of the
  // step.
  std::vector<int32_t> guesses_;
  size_t right_ = 0;
  std::span<const float> rows_;
};

}  // namespace

StatusOr<TokenLoopResult> RunTokenLoop(LogitSource& source,
                                       std::span<const int32_t> prompt,
                                       const TokenLoopOptions& options,
                                       TokenChooser& chooser) {
  if (prompt.empty() && options.first_logits.empty()) {
    return InvalidArgumentError(
        "prompt: expected at least one token, found none");
  }
  if (options.guesses > 0) EMBER_RETURN_IF_ERROR(source.CheckGuesses());
  return Loop(source, options, chooser).Run(prompt);
}

}  // namespace ember::llm
