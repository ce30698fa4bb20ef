#include "llm/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ember::llm {
namespace {

using Behavior = SplitStep::Behavior;
using Kind = SplitStep::Kind;
using Prepend = SplitStep::Prepend;

struct Range {
  size_t begin, end;
  bool is_match;
};

// Joins adjacent ranges (matches and the text between them), or removes
// matches, as `behavior` says.
void Join(Behavior behavior, std::vector<Range>* ranges) {
  std::vector<Range> joined;
  for (size_t i = 0; i < ranges->size(); ++i) {
    const Range& range = (*ranges)[i];
    bool belongs_to_last = false;
    if (i > 0) {
      const bool was_match = (*ranges)[i - 1].is_match;
      switch (behavior) {
        case Behavior::kIsolated:
        case Behavior::kRemoved:
          break;
        case Behavior::kMergedWithPrevious:
          belongs_to_last = range.is_match && !was_match;
          break;
        case Behavior::kMergedWithNext:
          belongs_to_last = was_match && !range.is_match;
          break;
        case Behavior::kContiguous:
          belongs_to_last = range.is_match == was_match;
          break;
      }
    }
    if (behavior == Behavior::kRemoved && range.is_match) continue;
    if (belongs_to_last) {
      joined.back().end = range.end;
    } else {
      joined.push_back(range);
    }
  }
  *ranges = std::move(joined);
}

// Returns the piece with kSpaceMark in place of each space, and with one more
// mark in front if `prepend` says so.
std::string WithSpaceMarks(std::string_view piece, Prepend prepend,
                           bool is_first) {
  std::string result;
  for (const char c : piece) {
    if (c == ' ') {
      result += kSpaceMark;
    } else {
      result += c;
    }
  }
  const bool prepends =
      prepend == Prepend::kAlways || (prepend == Prepend::kFirst && is_first);
  if (prepends && !result.starts_with(kSpaceMark)) {
    result.insert(0, kSpaceMark);
  }
  return result;
}

// Splits the piece before each kSpaceMark and appends the parts.
void SplitBeforeMarks(std::string_view piece,
                      std::vector<std::string_view>* result) {
  size_t begin = 0;
  while (begin < piece.size()) {
    const size_t end =
        std::min(piece.find(kSpaceMark, begin + 1), piece.size());
    result->push_back(piece.substr(begin, end - begin));
    begin = end;
  }
}

}  // namespace

StatusOr<PreTokenizer> PreTokenizer::Create(std::span<const SplitStep> steps) {
  PreTokenizer pre_tokenizer;
  for (const SplitStep& definition : steps) {
    Step step{definition, std::nullopt};
    if (definition.kind == Kind::kSplit) {
      EMBER_ASSIGN_OR_RETURN(step.regex, Regex::Compile(definition.pattern));
    }
    pre_tokenizer.steps_.push_back(std::move(step));
  }
  return pre_tokenizer;
}

Status PreTokenizer::SplitAtMatches(const Step& step, std::string_view piece,
                                    std::vector<std::string_view>* result) {
  const bool is_inverted = step.definition.is_inverted;
  std::vector<Range> ranges;
  size_t at = 0;
  EMBER_RETURN_IF_ERROR(
      step.regex->ForEachMatch(piece, [&](size_t begin, size_t end) {
        if (begin > at) ranges.push_back({at, begin, is_inverted});
        ranges.push_back({begin, end, !is_inverted});
        at = end;
      }));
  if (at < piece.size()) ranges.push_back({at, piece.size(), is_inverted});
  Join(step.definition.behavior, &ranges);
  for (const Range& range : ranges) {
    if (range.end > range.begin) {
      result->push_back(piece.substr(range.begin, range.end - range.begin));
    }
  }
  return OkStatus();
}

Status PreTokenizer::Split(std::string_view text, bool is_first,
                           Pieces* pieces) const {
  pieces->owned_.clear();
  std::vector<std::string_view>& texts = pieces->texts_;
  texts.clear();
  if (!text.empty()) texts.push_back(text);
  std::vector<std::string_view> next;
  for (const Step& step : steps_) {
    next.clear();
    for (size_t i = 0; i < texts.size(); ++i) {
      switch (step.definition.kind) {
        case Kind::kSplit:
          EMBER_RETURN_IF_ERROR(SplitAtMatches(step, texts[i], &next));
          break;
        case Kind::kPrependSpace:
          if (texts[i].starts_with(' ')) {
            next.push_back(texts[i]);
          } else {
            next.push_back(
                pieces->owned_.emplace_back(" " + std::string(texts[i])));
          }
          break;
        case Kind::kSpaceMark: {
          const std::string& marked =
              pieces->owned_.emplace_back(WithSpaceMarks(
                  texts[i], step.definition.prepend, is_first && i == 0));
          if (step.definition.is_split) {
            SplitBeforeMarks(marked, &next);
          } else {
            next.push_back(marked);
          }
          break;
        }
      }
    }
    texts.swap(next);
  }
  return OkStatus();
}

}  // namespace ember::llm
