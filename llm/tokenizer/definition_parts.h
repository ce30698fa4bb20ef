// Parts of definitions that the readers of both formats make.
//
// Thread-safe.
#ifndef EMBER_LLM_TOKENIZER_DEFINITION_PARTS_H_
#define EMBER_LLM_TOKENIZER_DEFINITION_PARTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "llm/tokenizer/definition.h"

namespace ember::llm {

// Ids of tokens by their texts as the file writes them.
using TextIds = std::unordered_map<std::string_view, int32_t>;

// Appends the merge of two texts. A merge whose parts or result are no tokens
// can never apply and is left out; returns false then.
bool AddMerge(std::string_view left, std::string_view right, const TextIds& ids,
              std::vector<MergeDefinition>* merges);

// BERT's normalizer, and its split at white space and punctuation.
struct BertOptions {
  bool cleans_text = true;
  bool isolates_chinese = true;
  bool strips_accents = true;
  bool lowercases = true;
};
void AddBertNormalizer(const BertOptions& options,
                       std::vector<NormalizerStep>* steps);
void AddBertSplits(std::vector<SplitStep>* steps);

// Splits at the matches of a pattern.
SplitStep SplitAt(std::string_view pattern, SplitStep::Behavior behavior);

// True for names that published vocabularies give to tokens that end a
// generation, such as "<|im_end|>".
bool IsNameOfEnd(std::string_view text);

// Makes tokens with such names control tokens and adds them, with the end of
// text, to the ends of generation.
void AddEndsOfGeneration(TokenizerDefinition* definition);

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_DEFINITION_PARTS_H_
