#include "jit/schedule/core/operands.h"

#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "jit/schedule/core/steps.h"

namespace ember::schedule {
namespace {

// Describes an operand of a primitive: its kind, and if it is optional or may
// be repeated.
struct Member {
  OperandKind kind;
  bool is_optional = false;
  bool is_repeated = false;
  bool has_stage = false;  // true for a loop: its stage is an operand of the
                           // text, too
};

// MemberOf() has an overload for each type that an operand of a step may have.
// A step with a member of another type does not compile.
constexpr Member MemberOf(const StageRef*) { return {OperandKind::kStage}; }
constexpr Member MemberOf(const BufferRef*) { return {OperandKind::kBuffer}; }
constexpr Member MemberOf(const LoopRef*) {
  return {.kind = OperandKind::kLoop, .has_stage = true};
}
constexpr Member MemberOf(const std::vector<LoopRef>*) {
  return {.kind = OperandKind::kLoop, .is_repeated = true, .has_stage = true};
}
constexpr Member MemberOf(const int64_t*) { return {OperandKind::kNumber}; }
constexpr Member MemberOf(const std::optional<DType>*) {
  return {.kind = OperandKind::kType, .is_optional = true};
}
constexpr Member MemberOf(const std::optional<tensor::Interval>*) {
  return {.kind = OperandKind::kRange, .is_optional = true};
}
constexpr Member MemberOf(const std::vector<size_t>*) {
  return {.kind = OperandKind::kDim, .is_optional = true, .is_repeated = true};
}
constexpr Member MemberOf(const std::vector<LayoutDim>*) {
  return {.kind = OperandKind::kLayoutDim, .is_repeated = true};
}
constexpr Member MemberOf(const LoopDigit*) {
  return {.kind = OperandKind::kDigit, .has_stage = true};
}
constexpr Member MemberOf(const LoopPieces*) {
  return {.kind = OperandKind::kPieces, .has_stage = true};
}
constexpr Member MemberOf(const std::vector<LoopPieces>*) {
  return {.kind = OperandKind::kPieces, .is_repeated = true, .has_stage = true};
}
constexpr Member MemberOf(const LoadAhead*) {
  return {.kind = OperandKind::kLoadAhead, .is_optional = true};
}
constexpr Member MemberOf(const HiddenBlocks*) {
  return {.kind = OperandKind::kHiddenBlocks, .is_optional = true};
}

// Returns the words of a primitive's usage text, in which a part in brackets
// counts as one word.
std::vector<std::string> WordsOf(std::string_view usage) {
  std::vector<std::string> words;
  bool is_in_word = false;
  int depth = 0;
  for (const char c : usage) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    const bool is_end = c == ' ' && depth == 0;
    if (!is_end) {
      if (!is_in_word) words.emplace_back();
      words.back() += c;
    }
    is_in_word = !is_end;
  }
  return words;
}

// Returns the first run of letters of a word of a usage text: "stage" of
// "%stage".
std::string LettersOf(std::string_view word) {
  std::string letters;
  for (const char c : word) {
    const bool is_letter = (c >= 'a' && c <= 'z') || c == '_';
    if (is_letter) letters += c;
    if (!is_letter && !letters.empty()) break;
  }
  return letters;
}

// Returns the name of an operand, which is its word in the usage text. Operands
// whose words are numbers or alternatives are named after their kind.
std::string NameOfOperand(OperandKind kind, std::string_view word) {
  if (kind == OperandKind::kRange) return "range";
  if (kind == OperandKind::kLoadAhead) return "how";
  return LettersOf(word);
}

class Row {
 public:
  explicit Row(std::string_view usage) {
    words_ = WordsOf(usage);
    for (size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] != "->") continue;
      for (size_t k = i + 1; k < words_.size(); ++k)
        row_.results.push_back(words_[k]);
      words_.resize(i);
      break;
    }
  }

  void Add(const Member& member) {
    if (member.has_stage && !has_stage_) AddWord({OperandKind::kStage});
    has_stage_ |= member.has_stage;
    AddWord(member);
  }

  StepOperands Finish(size_t results) && {
    EMBER_CHECK(row_.operands.size() == words_.size() &&
                row_.results.size() == results);
    return std::move(row_);
  }

 private:
  // Takes the next word of the usage text as the operand's. The word must have
  // the form that the member's type requires: the table of primitives is wrong
  // if it has not.
  void AddWord(const Member& member) {
    const size_t i = row_.operands.size();
    EMBER_CHECK(i < words_.size());
    const std::string& word = words_[i];
    const bool is_named = member.kind == OperandKind::kStage ||
                          member.kind == OperandKind::kBuffer;
    EMBER_CHECK(word.starts_with('%') == is_named);
    EMBER_CHECK(word.starts_with('[') == member.is_optional);
    EMBER_CHECK((word.ends_with("...") || word.ends_with("...]")) ==
                member.is_repeated);
    row_.operands.push_back({NameOfOperand(member.kind, word), member.kind,
                             member.is_optional, member.is_repeated});
  }

  std::vector<std::string> words_;
  bool has_stage_ = false;
  StepOperands row_;
};

template <typename S>
StepOperands OperandsOf(std::string_view usage) {
  Row row(usage);
  const S step;
  std::apply([&](auto... member) { (row.Add(MemberOf(&(step.*member))), ...); },
             S::kOperands);
  return std::move(row).Finish(std::tuple_size_v<decltype(S::kResults)>);
}

}  // namespace

std::string_view NameOf(OperandKind kind) {
  static constexpr std::string_view kNames[] = {
#define EMBER_ROW(enumerator, name, ...) name,
      EMBER_FOR_EACH_OPERAND_KIND(EMBER_ROW)
#undef EMBER_ROW
  };
  return kNames[static_cast<size_t>(kind)];
}

std::vector<StepOperands> OperandsOfPrimitives() {
  return {
#define EMBER_ROW(name, step, keeps, growth, loops, needs, usage, doc) \
  OperandsOf<step>(usage),
      EMBER_FOR_EACH_PRIMITIVE(EMBER_ROW)
#undef EMBER_ROW
  };
}

}  // namespace ember::schedule
