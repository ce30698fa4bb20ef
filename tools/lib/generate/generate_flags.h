// The command line flags of vm-generate, and the settings that
// CheckGenerateFlags makes of them.
//
//   GenerateFlags values;
//   AddGenerateFlags(flags, &values);
//   …
//   EMBER_ASSIGN_OR_RETURN(const GenerateSettings settings,
//                          CheckGenerateFlags(values));
//
// Errors are command line errors that name the flag, what was expected and what
// was found. Not thread-safe.
#ifndef EMBER_TOOLS_LIB_GENERATE_GENERATE_FLAGS_H_
#define EMBER_TOOLS_LIB_GENERATE_GENERATE_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "llm/sampling/sampler.h"
#include "tools/lib/cli/flags.h"

namespace ember::tools {

struct GenerateFlags {
  std::vector<std::string> prompts, long_prompts, stop_ids, stop_texts;
  std::string prompt_file, prompts_file, ids, forced, system, tokenizer,
      template_file;
  std::string save_state, load_state;
  bool is_chat = false, is_json = false;
  int64_t count = 0, context = 0, top = 0, chunk = 512, guesses = 0;
  int64_t sequences = 8;
  int64_t top_k = 40, penalty_window = 64, seed = 0;
  double temperature = 0, top_p = 0.95, min_p = 0.05;
  double repetition_penalty = 1, frequency_penalty = 0, presence_penalty = 0;
};

// Declares the flags. `values` must outlive the parsing.
void AddGenerateFlags(Flags& flags, GenerateFlags* values);

// The kind of prompt: ids of tokens, one text, several texts, one message of a
// chat, or a chat whose messages are read from stdin.
enum class PromptKind : uint8_t { kIds, kText, kTexts, kMessage, kMessages };

struct GenerateSettings {
  PromptKind kind = PromptKind::kIds;
  std::string prompt;                // The text of the prompt, for kText and
                                     // kMessage.
  std::vector<std::string> prompts;  // The texts of the prompts, for kTexts.
  std::vector<int32_t> ids, forced, stop_ids;
  llm::SamplingOptions sampling;
  // Largest number of tokens to generate; -1: as many as the context has room
  // for.
  int64_t count = -1;
};

// Checks the flags and makes the settings. Reads the text of --prompt-file and
// of --prompts; a file that cannot be read is not a command line error.
StatusOr<GenerateSettings> CheckGenerateFlags(const GenerateFlags& flags);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_GENERATE_FLAGS_H_
