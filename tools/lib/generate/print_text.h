// Prints the text of generations to stdout as it is made, and their times to
// stderr.
//
//   TextPrinter printer(tokenizer, model, {.sampling = sampling}, times);
//   EMBER_RETURN_IF_ERROR(printer.Continue(ids));
//   EMBER_RETURN_IF_ERROR(printer.Chat(chat_template, "", nullptr));
//   Report(times, model);
//
// Ctrl-C (interrupt.h) ends a generation, in a chat only the reply. Errors are
// those of llm/generate and llm/chat. For the main thread of a tool; what the
// constructor is given must outlive the printer.
#ifndef EMBER_TOOLS_LIB_GENERATE_PRINT_TEXT_H_
#define EMBER_TOOLS_LIB_GENERATE_PRINT_TEXT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "llm/chat/chat.h"
#include "llm/generate/generate.h"
#include "llm/grammar/vocabulary_trie.h"
#include "llm/template/chat_template.h"
#include "llm/tokenizer/tokenizer.h"
#include "tools/lib/generate/language_model.h"

namespace ember::tools {

// The times of all generations of a process.
struct GenerationTimes {
  double load_seconds = 0;
  double first_token_seconds = 0;  // Time of the first generation until its
                                   // first token.
  // The fields below are sums over all generations. `steps`: number of tokens
  // that were generated in generate_seconds, which are all but the first one of
  // each generation.
  double prompt_seconds = 0, generate_seconds = 0;
  int64_t prompt_tokens = 0, generated_tokens = 0, steps = 0;
  int64_t guessed_tokens = 0, right_guesses = 0;

  void Add(const llm::TokenLoopResult& result);
};

// Writes one line to stderr: the times and speeds of all generations, and the
// size of the model's state.
void Report(const GenerationTimes& times, const LanguageModel& model);

// Returns the tokens of a prompt: the tokens that begin a text, and those of
// the text itself.
StatusOr<std::vector<int32_t>> EncodePrompt(const llm::Tokenizer& tokenizer,
                                            const std::string& text);

class TextPrinter {
 public:
  // The printer itself sets the callbacks of `options` and, for JSON, its trie.
  TextPrinter(const llm::Tokenizer& tokenizer, LanguageModel& model,
              llm::GenerateOptions options, GenerationTimes& times);

  Status Continue(std::span<const int32_t> prompt);
  // Runs a chat. If `system` is not empty, it is the first message, with the
  // role system. Answers `message`; if `message` is null, answers each line of
  // stdin until its end.
  Status Chat(const llm::ChatTemplate& chat_template, const std::string& system,
              const std::string* message);

 private:
  Status Reply(llm::Chat& chat);
  void Show(const llm::Generation& generation);

  const llm::Tokenizer& tokenizer_;
  LanguageModel& model_;
  std::optional<llm::VocabularyTrie> trie_;
  llm::GenerateOptions options_;
  GenerationTimes& times_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_PRINT_TEXT_H_
