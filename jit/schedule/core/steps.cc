#include "jit/schedule/core/steps.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include "tensor/range_rules.h"

namespace ember::schedule {
namespace {

using enum Needs;

constexpr PrimitiveInfo kInfos[] = {
#define EMBER_ROW(name, step, keeps, growth, loops, needs, usage, doc) \
  {name, usage, doc, keeps, growth, loops, needs},
    EMBER_FOR_EACH_PRIMITIVE(EMBER_ROW)
#undef EMBER_ROW
};

static_assert(std::size(kInfos) == std::variant_size_v<Step>);

template <typename T>
constexpr bool kIsVector = false;
template <typename T>
constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
constexpr bool kIsOptional = false;
template <typename T>
constexpr bool kIsOptional<std::optional<T>> = true;

constexpr std::string_view kAsync = "async", kRegisters = "registers",
                           kLate = "late", kSpare = "spare", kSkip = "skip";

// --- printing ---

std::string DigitText(char separator, int64_t factor) {
  return separator + std::to_string(factor);
}

class Printer {
 public:
  template <typename S>
  std::string Print(const S& step, std::string_view name) {
    text_ = name;
    std::apply([&](auto... member) { (Word(step.*member), ...); },
               S::kOperands);
    if (std::tuple_size_v<decltype(S::kResults)> > 0) text_ += " ->";
    std::apply([&](auto... member) { (Word(step.*member), ...); }, S::kResults);
    return std::move(text_);
  }

 private:
  void Word(std::string_view word) {
    text_ += " ";
    text_ += word;
  }
  void Word(const std::string& word) { Word(std::string_view(word)); }
  void Word(int64_t number) { Word(std::to_string(number)); }
  void Word(const StageRef& stage) { Word(ToText(stage)); }
  void Word(const BufferRef& buffer) { Word("%" + buffer.name); }
  void Word(const LoopRef& loop) {
    StageOf(loop);
    Word(loop.name);
  }
  void Word(const LoopDigit& digit) {
    StageOf(digit.loop);
    Word(ToText(digit));
  }
  void Word(const LoopPieces& pieces) {
    StageOf(pieces.loop);
    Word(ToText(pieces));
  }
  void Word(const LayoutDim& dim) { Word(ToText(dim)); }
  void Word(const tensor::Interval& range) { Word(ToText(range)); }
  void Word(DType type) { Word(DTypeName(type)); }
  void Word(const LoadAhead& how) {
    if (how.buffering == Buffering::kDoubleByRegisters) Word(kRegisters);
    if (how.buffering != Buffering::kAsync) return;
    Word(kAsync);
    Word(how.slots);
    if (how.is_late) Word(kLate);
    if (how.has_spare) Word(kSpare);
  }
  void Word(HiddenBlocks hidden) {
    if (hidden == HiddenBlocks::kSkip) Word(kSkip);
  }
  template <typename T>
  void Word(const std::optional<T>& value) {
    if (value) Word(*value);
  }
  template <typename T>
  void Word(const std::vector<T>& values) {
    for (const T& value : values) {
      if constexpr (std::is_same_v<T, size_t>)
        Word(std::to_string(value));
      else
        Word(value);
    }
  }

  // Writes the stage's name before the first loop of a step; further loops are
  // of the same stage.
  void StageOf(const LoopRef& loop) {
    if (!has_stage_) Word(loop.stage);
    has_stage_ = true;
  }

  std::string text_;
  bool has_stage_ = false;
};

// --- parsing ---

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return words;
    line.remove_prefix(first);
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

// Parses a word as a number. The whole word must be the number.
template <typename T>
bool ParseNumber(std::string_view word, T& number) {
  const char* const end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && at == end;
}

bool ParseFactor(std::string_view word, int64_t& factor) {
  return ParseNumber(word, factor) && factor >= 1 &&
         factor <= tensor::kMaxExtent;
}

Status Expected(std::string_view what, std::string_view found) {
  return InvalidArgumentError("expected " + std::string(what) + ", found '" +
                              std::string(found) + "'");
}

// Parses the operands of a step from words, one after the other.
class Parser {
 public:
  Parser(std::span<const std::string_view> operands, std::string_view usage)
      : words_(operands), usage_(usage) {}

  template <typename S>
  StatusOr<S> Parse(std::span<const std::string_view> results) {
    if (results.size() != std::tuple_size_v<decltype(S::kResults)>)
      return UsageError();
    S step;
    Status status;
    const auto read = [&](auto& operand) {
      if (status.ok()) status = Read(operand);
    };
    std::apply([&](auto... member) { (read(step.*member), ...); },
               S::kOperands);
    EMBER_RETURN_IF_ERROR(status);
    if (!words_.empty()) return UsageError();
    size_t i = 0;
    std::apply([&](auto... member) { ((step.*member = results[i++]), ...); },
               S::kResults);
    return step;
  }

 private:
  Status UsageError() const {
    return InvalidArgumentError("expected '" + std::string(usage_) + "'");
  }

  std::string_view Take() {
    const std::string_view word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }

  StatusOr<std::string> NameAfterPercent(std::string_view what) {
    if (words_.empty()) return UsageError();
    const std::string_view word = Take();
    if (!word.starts_with('%')) return Expected(what, word);
    return std::string(word.substr(1));
  }

  Status Read(StageRef& stage) {
    EMBER_ASSIGN_OR_RETURN(stage.name, NameAfterPercent("a stage"));
    return OkStatus();
  }
  Status Read(BufferRef& buffer) {
    EMBER_ASSIGN_OR_RETURN(buffer.name, NameAfterPercent("a buffer"));
    return OkStatus();
  }
  // Reads the stage's name before the first loop of a step; further loops are
  // of the same stage.
  Status ReadStage(LoopRef& loop) {
    if (!stage_) {
      StageRef stage;
      EMBER_RETURN_IF_ERROR(Read(stage));
      stage_ = std::move(stage);
    }
    loop.stage = *stage_;
    return words_.empty() ? UsageError() : OkStatus();
  }
  Status Read(LoopRef& loop) {
    EMBER_RETURN_IF_ERROR(ReadStage(loop));
    loop.name = Take();
    return OkStatus();
  }
  Status Read(int64_t& factor) {
    if (words_.empty()) return UsageError();
    const std::string_view word = Take();
    if (ParseFactor(word, factor)) return OkStatus();
    return Expected("a factor of 1 or more", word);
  }
  Status Read(std::vector<LoopRef>& loops) {
    do {
      EMBER_RETURN_IF_ERROR(Read(loops.emplace_back()));
    } while (!words_.empty());
    return loops.size() < 2 ? UsageError() : OkStatus();
  }
  Status Read(std::optional<DType>& type) {
    if (words_.empty()) return OkStatus();
    type = DTypeFromName(words_.front());
    if (type) Take();
    return OkStatus();
  }
  Status Read(std::optional<tensor::Interval>& range) {
    if (words_.empty()) return OkStatus();
    const std::string_view word = words_.front();
    const size_t dots = word.find("..");
    if (dots == std::string_view::npos) return OkStatus();
    tensor::Interval read;
    if (!ParseNumber(word.substr(0, dots), read.low) ||
        !ParseNumber(word.substr(dots + 2), read.high)) {
      return Expected("a range of integers, like -64..64", word);
    }
    range = read;
    Take();
    return OkStatus();
  }
  Status Read(std::vector<size_t>& dims) {
    while (!words_.empty()) {
      const std::string_view word = Take();
      if (!ParseNumber(word, dims.emplace_back()))
        return Expected("a type or dims of the buffer, each once", word);
    }
    return OkStatus();
  }
  Status Read(std::vector<LayoutDim>& layout) {
    if (words_.empty()) return UsageError();
    while (!words_.empty()) {
      const std::string_view word = Take();
      LayoutDim& dim = layout.emplace_back();
      const size_t end = std::min(word.find_first_of("/%"), word.size());
      bool is_right = ParseNumber(word.substr(0, end), dim.dim);
      if (end < word.size()) {
        dim.part = word[end] == '/' ? LayoutDim::Part::kQuotient
                                    : LayoutDim::Part::kRemainder;
        is_right &= ParseFactor(word.substr(end + 1), dim.factor);
      }
      if (!is_right) return Expected("d, d/n or d%n with a dim d", word);
    }
    return OkStatus();
  }
  Status Read(LoopDigit& digit) {
    EMBER_RETURN_IF_ERROR(ReadStage(digit.loop));
    using enum LoopDigit::Kind;
    const std::string_view word = Take();
    size_t at = std::min(word.find_first_of("/%"), word.size());
    digit.loop.name = word.substr(0, at);
    // Parses the number that follows the '/' or '%' at word[at], and moves `at`
    // to the end of the number.
    const auto read_factor = [&](int64_t& factor) {
      const size_t begin = at + 1;
      at = std::min(word.find_first_of("/%", begin), word.size());
      const std::string_view number = word.substr(begin, at - begin);
      return ParseFactor(number, factor)
                 ? OkStatus()
                 : Expected("a factor of 1 or more", number);
    };
    if (at == word.size()) return OkStatus();
    digit.kind = word[at] == '/' ? kQuotient : kRemainder;
    EMBER_RETURN_IF_ERROR(read_factor(digit.factor));
    if (at == word.size()) return OkStatus();
    digit.run = digit.factor;
    const bool is_run = digit.kind == kQuotient && word[at] == '%';
    digit.kind = kRemainder;
    EMBER_RETURN_IF_ERROR(read_factor(digit.factor));
    if (is_run && at == word.size()) return OkStatus();
    return Expected("k, k/n, k%n or k/n%m", word);
  }
  Status Read(LoopPieces& pieces) {
    const bool is_first = !stage_;
    EMBER_RETURN_IF_ERROR(ReadStage(pieces.loop));
    const std::string_view word = Take();
    const size_t slash = std::min(word.find('/'), word.size());
    pieces.loop.name = word.substr(0, slash);
    if (slash < word.size() && ParseFactor(word.substr(slash + 1), pieces.size))
      return OkStatus();
    return Expected((is_first ? "k/n with a reduction k of "
                              : "i/n with an axis i of the points of ") +
                        ToText(pieces.loop.stage),
                    word);
  }
  Status Read(std::vector<LoopPieces>& tiles) {
    while (!words_.empty()) EMBER_RETURN_IF_ERROR(Read(tiles.emplace_back()));
    return OkStatus();
  }
  Status Read(LoadAhead& how) {
    if (words_.empty()) return OkStatus();
    const std::string_view word = Take();
    if (word == kRegisters) {
      how.buffering = Buffering::kDoubleByRegisters;
      if (words_.empty()) return OkStatus();
      return InvalidArgumentError("expected nothing behind 'registers'");
    }
    if (word != kAsync)
      return Expected("'registers', 'async' or nothing", word);
    how.buffering = Buffering::kAsync;
    if (words_.empty())
      return InvalidArgumentError("expected a number of slots behind 'async'");
    EMBER_RETURN_IF_ERROR(Read(how.slots));
    EMBER_RETURN_IF_ERROR(ReadWord(kLate, "the slots", how.is_late));
    return ReadWord(kSpare, "'late'", how.has_spare);
  }
  // Reads an optional last word, and sets `is_set` if it is there. behind: what
  // precedes the word, for the error message.
  Status ReadWord(std::string_view word, std::string_view behind,
                  bool& is_set) {
    if (words_.empty()) return OkStatus();
    const std::string_view found = Take();
    is_set = found == word;
    if (is_set) return OkStatus();
    return Expected(
        "'" + std::string(word) + "' or nothing behind " + std::string(behind),
        found);
  }
  Status Read(HiddenBlocks& hidden) {
    if (words_.empty()) return OkStatus();
    const std::string_view word = Take();
    if (word != kSkip) return Expected("'skip'", word);
    hidden = HiddenBlocks::kSkip;
    return OkStatus();
  }

  std::span<const std::string_view> words_;
  std::string_view usage_;
  std::optional<StageRef> stage_;  // the stage to which the step's loops
                                   // belong; nullopt before it was read
};

template <typename S>
StatusOr<Step> ParseAs(const PrimitiveInfo& info,
                       std::span<const std::string_view> words) {
  const auto arrow = std::ranges::find(words, "->");
  const size_t end = static_cast<size_t>(arrow - words.begin());
  const std::string usage =
      std::string(info.name) + " " + std::string(info.usage);
  EMBER_ASSIGN_OR_RETURN(
      S step, Parser(words.subspan(1, end - 1), usage)
                  .Parse<S>(words.subspan(std::min(end + 1, words.size()))));
  return Step(std::move(step));
}

// --- names of stages ---

const StageRef* StageIn(const StageRef& stage) { return &stage; }
const StageRef* StageIn(const LoopRef& loop) { return &loop.stage; }
const StageRef* StageIn(const LoopDigit& digit) { return &digit.loop.stage; }
const StageRef* StageIn(const LoopPieces& pieces) { return &pieces.loop.stage; }
const StageRef* StageIn(const std::vector<LoopRef>& loops) {
  static const StageRef none;
  return loops.empty() ? &none : &loops.front().stage;
}

}  // namespace

std::vector<PrimitiveInfo> Primitives() {
  return {std::begin(kInfos), std::end(kInfos)};
}

const PrimitiveInfo& InfoOf(const Step& step) { return kInfos[step.index()]; }

const StageRef& StageOf(const Step& step) {
  return *std::visit(
      [](const auto& s) {
        return StageIn(s.*std::get<0>(std::decay_t<decltype(s)>::kOperands));
      },
      step);
}

StatusOr<Step> ParseStep(std::string_view line) {
  const std::vector<std::string_view> words = WordsOf(line);
  if (words.empty()) return InvalidArgumentError("expected a primitive");
  using Parse = StatusOr<Step> (*)(const PrimitiveInfo&,
                                   std::span<const std::string_view>);
  static constexpr Parse kParsers[] = {
#define EMBER_ROW(name, step, ...) ParseAs<step>,
      EMBER_FOR_EACH_PRIMITIVE(EMBER_ROW)
#undef EMBER_ROW
  };
  const auto info = std::ranges::find(kInfos, words[0], &PrimitiveInfo::name);
  if (info == std::end(kInfos))
    return Expected("a primitive (split, fuse, ...)", words[0]);
  return kParsers[info - std::begin(kInfos)](*info, words);
}

std::string ToText(const Step& step) {
  return std::visit(
      [&](const auto& s) { return Printer().Print(s, InfoOf(step).name); },
      step);
}

std::string ToText(const StageRef& stage) { return "%" + stage.name; }

std::string ToText(const LoopDigit& digit) {
  using enum LoopDigit::Kind;
  std::string text = digit.loop.name;
  if (digit.run != 1) text += DigitText('/', digit.run);
  if (digit.kind != kWhole)
    text += DigitText(digit.kind == kQuotient ? '/' : '%', digit.factor);
  return text;
}

std::string ToText(const LoopPieces& pieces) {
  return pieces.loop.name + DigitText('/', pieces.size);
}

std::string ToText(const LayoutDim& dim) {
  using enum LayoutDim::Part;
  std::string text = std::to_string(dim.dim);
  if (dim.part != kWhole)
    text += DigitText(dim.part == kQuotient ? '/' : '%', dim.factor);
  return text;
}

std::string ToText(const tensor::Interval& range) {
  return std::to_string(range.low) + ".." + std::to_string(range.high);
}

}  // namespace ember::schedule
