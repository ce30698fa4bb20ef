// Functions that make parts of a tokenizer's definition, for the readers of
// both file formats.
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

// Maps the texts of tokens, as the file writes them, to ids.
using TextIds = std::unordered_map<std::string_view, int32_t>;

// Appends the merge of two tokens, given by their texts. Returns false and
// appends nothing if a text or the merged text is no token, because such a
// merge can never be applied.
bool AddMerge(std::string_view left, std::string_view right, const TextIds& ids,
              std::vector<MergeDefinition>* merges);

// Options of BERT's normalizer. The functions append the steps of the
// normalizer, and of the split at white space and punctuation.
struct BertOptions {
  bool cleans_text = true;
  bool isolates_chinese = true;
  bool strips_accents = true;
  bool lowercases = true;
};
void AddBertNormalizer(const BertOptions& options,
                       std::vector<NormalizerStep>* steps);
void AddBertSplits(std::vector<SplitStep>* steps);

// Returns a step that splits pieces at the matches of a pattern.
SplitStep SplitAt(std::string_view pattern, SplitStep::Behavior behavior);

// True if published vocabularies use this name for a token that ends a
// generation, such as "<|im_end|>".
bool IsNameOfEnd(std::string_view text);

// Completes ends_of_generation: adds the end of text and all tokens whose texts
// IsNameOfEnd accepts, which also become control tokens.
void AddEndsOfGeneration(TokenizerDefinition* definition);

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_DEFINITION_PARTS_H_
