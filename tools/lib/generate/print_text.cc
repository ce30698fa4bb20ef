#include "tools/lib/generate/print_text.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <utility>

#include "tools/lib/generate/interrupt.h"

namespace ember::tools {
namespace {

std::tm Now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  localtime_r(&now, &parts);
  return parts;
}

double Rate(int64_t count, double seconds) {
  return count > 0 && seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

}  // namespace

void GenerationTimes::Add(const llm::TokenLoopResult& result) {
  if (generated_tokens == 0) first_token_seconds = result.prompt_seconds;
  prompt_tokens += result.prompt_tokens;
  prompt_seconds += result.prompt_seconds;
  generated_tokens += result.generated_tokens;
  generate_seconds += result.generate_seconds;
  steps += std::max<int64_t>(result.generated_tokens - 1, 0);
  guessed_tokens += result.guessed_tokens;
  right_guesses += result.right_guesses;
}

void Report(const GenerationTimes& times, const LanguageModel& model) {
  std::string guesses;
  if (times.guessed_tokens > 0) {
    guesses = " (" + std::to_string(times.right_guesses) + " of " +
              std::to_string(times.guessed_tokens) + " guesses were right)";
  }
  char first[64] = "no token was generated";
  if (times.generated_tokens > 0) {
    std::snprintf(first, sizeof first, "first token after %.3f s",
                  times.first_token_seconds);
  }
  std::fprintf(
      stderr,
      "loaded in %.2f s; %s; prompt of %lld tokens: %.1f "
      "tokens/s; generated %lld tokens: %.1f tokens/s%s; state: %.1f MB for "
      "%lld tokens, %lld bytes per token\n",
      times.load_seconds, first, static_cast<long long>(times.prompt_tokens),
      Rate(times.prompt_tokens, times.prompt_seconds),
      static_cast<long long>(times.generated_tokens),
      Rate(times.steps, times.generate_seconds), guesses.c_str(),
      static_cast<double>(model.state_bytes()) / 1e6,
      static_cast<long long>(model.context()),
      static_cast<long long>(model.state_bytes_per_token()));
}

StatusOr<std::vector<int32_t>> EncodePrompt(const llm::Tokenizer& tokenizer,
                                            const std::string& text) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<int32_t> encoded,
                         tokenizer.Encode(text, {.add_special = false}));
  // Only the tokens that begin a text are added in front of the prompt. A token
  // that ends a text would make the model stop at once.
  std::vector<int32_t> ids = tokenizer.definition().prefix;
  ids.insert(ids.end(), encoded.begin(), encoded.end());
  if (!ids.empty()) return ids;
  return InvalidArgumentError(
      "prompt: expected a text, found none, and this model has no token that "
      "begins texts");
}

TextPrinter::TextPrinter(const llm::Tokenizer& tokenizer, LanguageModel& model,
                         llm::GenerateOptions options, GenerationTimes& times)
    : tokenizer_(tokenizer),
      model_(model),
      options_(std::move(options)),
      times_(times) {
  if (options_.json) {
    trie_.emplace(tokenizer.vocabulary());
    options_.trie = &*trie_;
  }
  options_.on_text = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return std::fflush(stdout) == 0;
  };
  options_.is_cancelled = [] { return CatchInterrupt::is_requested(); };
}

void TextPrinter::Show(const llm::Generation& generation) {
  std::printf("\n");
  std::fflush(stdout);
  times_.Add(generation.loop);
  if (generation.reason() != llm::EndReason::kNoRoom) return;
  std::fprintf(stderr,
               "vm-generate: note: the context of %lld tokens is full; give a "
               "larger --context\n",
               static_cast<long long>(model_.max_context()));
}

Status TextPrinter::Continue(std::span<const int32_t> prompt) {
  EMBER_ASSIGN_OR_RETURN(const llm::Generation generation,
                         llm::Generate(tokenizer_, model_, prompt, options_));
  Show(generation);
  return OkStatus();
}

Status TextPrinter::Reply(llm::Chat& chat) {
  EMBER_ASSIGN_OR_RETURN(const llm::Generation reply,
                         chat.Generate(model_, options_));
  Show(reply);
  return OkStatus();
}

Status TextPrinter::Chat(const llm::ChatTemplate& chat_template,
                         const std::string& system,
                         const std::string* message) {
  llm::Chat chat(tokenizer_, chat_template, {.now = Now()});
  if (!system.empty()) chat.Add("system", system);
  if (message != nullptr) {
    chat.Add("user", *message);
    return Reply(chat);
  }
  const bool is_terminal = isatty(STDIN_FILENO) != 0;
  for (std::string line;;) {
    if (is_terminal) std::fprintf(stderr, "> ");
    if (!std::getline(std::cin, line)) break;
    if (line.empty()) continue;
    chat.Add("user", line);
    EMBER_RETURN_IF_ERROR(Reply(chat));
    CatchInterrupt::Clear();
  }
  // After Ctrl-D or Ctrl-C the cursor is still on the line of the "> ", so a
  // line feed is printed.
  if (is_terminal) std::fprintf(stderr, "\n");
  return OkStatus();
}

}  // namespace ember::tools
