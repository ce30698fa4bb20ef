// Finds the rules by which published families of byte-level tokenizers split
// texts into words, by the name that GGUF files give ("tokenizer.ggml.pre").
//
//   const SplitRules* rules = FindSplitRules("llama-bpe");   // null if unknown
//   for (std::string_view pattern : rules->patterns) ...
//
// Each pattern splits the pieces that the pattern before it made. Both its
// matches and the text between them become pieces. Constant. Sources: the
// tokenizer.json files of the families, and the names in llama.cpp's converter.
#ifndef EMBER_LLM_TOKENIZER_SPLIT_RULES_H_
#define EMBER_LLM_TOKENIZER_SPLIT_RULES_H_

#include <span>
#include <string>
#include <string_view>

namespace ember::llm {

struct SplitRules {
  std::span<const std::string_view> names;
  std::span<const std::string_view> patterns;
  // True: a word that is a token as a whole is encoded as this token, without
  // merges.
  bool ignores_merges = false;
  // True: the token that begins a text is added, unless the file says
  // otherwise.
  bool adds_begin = false;
};

const SplitRules* FindSplitRules(std::string_view name);

// Returns all names of rules, separated by ", ", for error messages.
std::string SplitRuleNames();

// The pattern of GPT-2. A step ByteLevel of tokenizer.json uses it, too.
extern const std::string_view kGpt2Pattern;

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_SPLIT_RULES_H_
