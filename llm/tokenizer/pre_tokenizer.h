// Splits a text into the pieces (words) that a tokenizer's model works on.
//
//   EMBER_ASSIGN_OR_RETURN(const PreTokenizer splitter,
//                          PreTokenizer::Create(definition.splits));
//   Pieces pieces;
//   EMBER_RETURN_IF_ERROR(splitter.Split("two words", true, &pieces));
//   // pieces.texts(): "two", " words"
//
// Each step splits the pieces that the step before it made. A pattern is
// matched within one piece; lookahead does not see the text around the piece.
// Move-only; thread-safe after creation.
#ifndef EMBER_LLM_TOKENIZER_PRE_TOKENIZER_H_
#define EMBER_LLM_TOKENIZER_PRE_TOKENIZER_H_

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/text/regex.h"
#include "llm/tokenizer/definition.h"

namespace ember::llm {

// The pieces of a text: views of the text that was split, or of rewritten
// copies that this object owns.
class Pieces {
 public:
  const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  friend class PreTokenizer;
  std::vector<std::string_view> texts_;
  std::deque<std::string> owned_;
};

class PreTokenizer {
 public:
  static StatusOr<PreTokenizer> Create(std::span<const SplitStep> steps);

  // Splits the text. It must be valid UTF-8 and outlive `pieces`, whose
  // contents are replaced. No piece is empty. `is_first` is true if the text is
  // the beginning of the whole text.
  Status Split(std::string_view text, bool is_first, Pieces* pieces) const;

 private:
  struct Step {
    SplitStep definition;
    std::optional<Regex> regex;
  };
  static Status SplitAtMatches(const Step& step, std::string_view piece,
                               std::vector<std::string_view>* result);
  std::vector<Step> steps_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_PRE_TOKENIZER_H_
