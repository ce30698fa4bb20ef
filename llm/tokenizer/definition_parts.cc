#include "llm/tokenizer/definition_parts.h"

#include <algorithm>

namespace ember::llm {
namespace {

using Behavior = SplitStep::Behavior;
using Kind = NormalizerStep::Kind;

}  // namespace

bool AddMerge(std::string_view left, std::string_view right, const TextIds& ids,
              std::vector<MergeDefinition>* merges) {
  const auto left_id = ids.find(left), right_id = ids.find(right);
  const std::string joined = std::string(left) + std::string(right);
  const auto result_id = ids.find(joined);
  if (left_id == ids.end() || right_id == ids.end() || result_id == ids.end()) {
    return false;
  }
  merges->push_back({left_id->second, right_id->second, result_id->second});
  return true;
}

void AddBertNormalizer(const BertOptions& options,
                       std::vector<NormalizerStep>* steps) {
  if (options.cleans_text) steps->push_back({Kind::kCleanText, "", ""});
  if (options.isolates_chinese) {
    steps->push_back({Kind::kIsolateChinese, "", ""});
  }
  if (options.strips_accents) {
    steps->push_back({Kind::kNfd, "", ""});
    steps->push_back({Kind::kStripMarks, "", ""});
  }
  if (options.lowercases) steps->push_back({Kind::kLowercase, "", ""});
}

void AddBertSplits(std::vector<SplitStep>* steps) {
  steps->push_back(SplitAt("\\s+", Behavior::kRemoved));
  steps->push_back(SplitAt("[\\p{P}!-/:-@\\[-`{-~]", Behavior::kIsolated));
}

SplitStep SplitAt(std::string_view pattern, Behavior behavior) {
  SplitStep step;
  step.pattern = pattern;
  step.behavior = behavior;
  return step;
}

bool IsNameOfEnd(std::string_view text) {
  static constexpr std::string_view kNames[] = {"<|eot_id|>",
                                                "<|im_end|>",
                                                "<|end|>",
                                                "<|return|>",
                                                "<|call|>",
                                                "<end_of_turn>",
                                                "<|endoftext|>",
                                                "<|eom_id|>",
                                                "<EOT>",
                                                "_<EOT>",
                                                "[EOT]",
                                                "[EOS]",
                                                "<|end_of_text|>",
                                                "<end_of_utterance>",
                                                "<｜end▁of▁sentence｜>"};
  return std::find(std::begin(kNames), std::end(kNames), text) !=
         std::end(kNames);
}

void AddEndsOfGeneration(TokenizerDefinition* definition) {
  std::vector<int32_t>& ends = definition->ends_of_generation;
  if (definition->end_of_text >= 0) ends.push_back(definition->end_of_text);
  for (size_t id = 0; id < definition->tokens.size(); ++id) {
    TokenDefinition& token = definition->tokens[id];
    if (!IsNameOfEnd(token.text)) continue;
    token.kind = TokenKind::kControl;
    if (static_cast<int32_t>(id) != definition->end_of_text) {
      ends.push_back(static_cast<int32_t>(id));
    }
  }
}

}  // namespace ember::llm
