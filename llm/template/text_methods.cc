// Implements the methods of texts, such as text.strip().
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "llm/template/evaluator.h"
#include "llm/template/methods.h"
#include "llm/text/unicode.h"
#include "llm/text/utf8.h"

namespace ember::llm {
namespace {

using Result = StatusOr<Value>;
using Items = Value::Items;

StatusOr<std::string_view> TextArgument(const Arguments& arguments,
                                        size_t position,
                                        std::string_view name) {
  const Value* const value = arguments.Find(position, name);
  if (value == nullptr || !value->is_text()) {
    return InvalidArgumentError(
        Concat({"argument ", name, ": expected a text, found ",
                value == nullptr ? "nothing" : value->TypeName()}));
  }
  return std::string_view(value->text());
}

StatusOr<int64_t> IntegerArgument(const Arguments& arguments, size_t position,
                                  std::string_view name, int64_t otherwise) {
  const Value* const value = arguments.Find(position, name);
  if (value == nullptr || value->is_none()) return otherwise;
  if (value->is_integer()) return value->integer();
  return InvalidArgumentError(Concat(
      {"argument ", name, ": expected an integer, found ", value->TypeName()}));
}

size_t LastCharacter(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

// Returns the text without the characters of `set` (white space if it is null)
// at its ends.
std::string_view Stripped(std::string_view text, const std::string* set,
                          bool left, bool right) {
  const auto is_removed = [set](std::string_view character) {
    if (set == nullptr) return IsWhitespace(Utf8At(character, 0).code);
    for (size_t at = 0; at < set->size(); at += Utf8At(*set, at).size) {
      if (set->compare(at, Utf8At(*set, at).size, character) == 0) return true;
    }
    return false;
  };
  while (left && !text.empty()) {
    const size_t size = Utf8At(text, 0).size;
    if (!is_removed(text.substr(0, size))) break;
    text.remove_prefix(size);
  }
  while (right && !text.empty()) {
    const size_t last = LastCharacter(text);
    if (!is_removed(text.substr(last))) break;
    text = text.substr(0, last);
  }
  return text;
}

template <bool kLeft, bool kRight>
Result Strip(Evaluator& evaluator, const std::string& text,
             const Arguments& arguments) {
  EMBER_RETURN_IF_ERROR(arguments.Check("strip", 1, {"chars"}));
  const Value* const set = arguments.Find(0, "chars");
  const std::string* characters = nullptr;
  if (set != nullptr && !set->is_none()) {
    EMBER_RETURN_IF_ERROR(TextArgument(arguments, 0, "chars").status());
    characters = &set->text();
    EMBER_RETURN_IF_ERROR(evaluator.ChargeSteps(
        text.size() * (1 + characters->size() / 16) / 16));
  }
  return evaluator.MakeText(
      std::string(Stripped(text, characters, kLeft, kRight)));
}

Result Lower(Evaluator& evaluator, const std::string& text, const Arguments&) {
  return evaluator.MakeText(Lowercase(text));
}

Result Upper(Evaluator& evaluator, const std::string& text, const Arguments&) {
  return evaluator.MakeText(Uppercase(text));
}

Result Capitalize(Evaluator& evaluator, const std::string& text,
                  const Arguments&) {
  if (text.empty()) return Value("");
  const size_t size = Utf8At(text, 0).size;
  return evaluator.MakeText(Uppercase(text.substr(0, size)) +
                            Lowercase(text.substr(size)));
}

Result Title(Evaluator& evaluator, const std::string& text, const Arguments&) {
  std::string result;
  bool is_in_word = false;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = Utf8At(text, at);
    at += c.size;
    AppendUtf8(is_in_word ? ToLower(c.code) : ToUpper(c.code), &result);
    is_in_word = IsLetter(c.code);
  }
  return evaluator.MakeText(std::move(result));
}

Result SwapCase(Evaluator& evaluator, const std::string& text,
                const Arguments&) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = Utf8At(text, at);
    at += c.size;
    AppendUtf8(IsUpper(c.code) ? ToLower(c.code) : ToUpper(c.code), &result);
  }
  return evaluator.MakeText(std::move(result));
}

// Implements startswith and endswith. The argument is a text or a tuple of
// texts.
template <bool kAtEnd>
Result HasEnd(Evaluator& evaluator, const std::string& text,
              const Arguments& arguments) {
  const Value* const wanted = arguments.Find(0, "prefix");
  const auto matches = [&text](const Value& each) {
    if (!each.is_text()) return false;
    return kAtEnd ? text.ends_with(each.text()) : text.starts_with(each.text());
  };
  if (wanted != nullptr && wanted->kind() == Value::Kind::kTuple) {
    const Items& all = wanted->items();
    EMBER_RETURN_IF_ERROR(
        evaluator.ChargeSteps(all.size() + wanted->Weight() / 16));
    return Value(std::any_of(all.begin(), all.end(), matches));
  }
  EMBER_RETURN_IF_ERROR(TextArgument(arguments, 0, "prefix").status());
  return Value(matches(*wanted));
}

// Splits the text at white space, at most `most` times; -1: without a limit.
Items SplitAtSpace(std::string_view text, int64_t most) {
  Items parts;
  text = Stripped(text, nullptr, true, false);
  while (!text.empty()) {
    if (most == 0) {
      parts.emplace_back(text);
      break;
    }
    --most;
    size_t end = 0;
    while (end < text.size() && !IsWhitespace(Utf8At(text, end).code)) {
      end += Utf8At(text, end).size;
    }
    parts.emplace_back(text.substr(0, end));
    text = Stripped(text.substr(end), nullptr, true, false);
  }
  return parts;
}

Items SplitAtSpaceFromRight(std::string_view text, int64_t most) {
  Items parts;
  text = Stripped(text, nullptr, false, true);
  while (!text.empty()) {
    if (most == 0) {
      parts.emplace_back(text);
      break;
    }
    --most;
    size_t begin = text.size();
    while (begin > 0) {
      const size_t last = LastCharacter(text.substr(0, begin));
      if (IsWhitespace(Utf8At(text, last).code)) break;
      begin = last;
    }
    parts.emplace_back(text.substr(begin));
    text = Stripped(text.substr(0, begin), nullptr, false, true);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

Items SplitAtText(std::string_view text, std::string_view separator,
                  int64_t most) {
  Items parts;
  size_t begin = 0;
  while (most != 0) {
    const size_t found = text.find(separator, begin);
    if (found == std::string_view::npos) break;
    parts.emplace_back(text.substr(begin, found - begin));
    begin = found + separator.size();
    --most;
  }
  parts.emplace_back(text.substr(begin));
  return parts;
}

Items SplitAtTextFromRight(std::string_view text, std::string_view separator,
                           int64_t most) {
  Items parts;
  while (most != 0) {
    const size_t found = text.rfind(separator);
    if (found == std::string_view::npos) break;
    parts.emplace_back(text.substr(found + separator.size()));
    text = text.substr(0, found);
    --most;
  }
  parts.emplace_back(text);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

template <bool kFromRight>
Result Split(Evaluator& evaluator, const std::string& text,
             const Arguments& arguments) {
  EMBER_RETURN_IF_ERROR(arguments.Check("split", 2, {"sep", "maxsplit"}));
  EMBER_ASSIGN_OR_RETURN(const int64_t most,
                         IntegerArgument(arguments, 1, "maxsplit", -1));
  const Value* const separator = arguments.Find(0, "sep");
  // The memory is charged for the largest possible number of parts of the split
  // text, which is one for each byte.
  if (separator == nullptr || separator->is_none()) {
    EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(text.size() * 48));
    return evaluator.MakeList(kFromRight ? SplitAtSpaceFromRight(text, most)
                                         : SplitAtSpace(text, most));
  }
  EMBER_ASSIGN_OR_RETURN(const std::string_view between,
                         TextArgument(arguments, 0, "sep"));
  if (between.empty()) {
    return InvalidArgumentError("split: expected a separator, found ''");
  }
  EMBER_RETURN_IF_ERROR(
      evaluator.ChargeBytes(text.size() * (1 + 48 / between.size())));
  return evaluator.MakeList(kFromRight
                                ? SplitAtTextFromRight(text, between, most)
                                : SplitAtText(text, between, most));
}

Result SplitLines(Evaluator& evaluator, const std::string& text,
                  const Arguments& arguments) {
  const Value* const keep = arguments.Find(0, "keepends");
  const bool keeps_ends = keep != nullptr && keep->IsTrue();
  EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(text.size() * 48));
  Items lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    size_t next = std::min(end + 1, text.size());
    if (end + 1 < text.size() && text[end] == '\r' && text[end + 1] == '\n') {
      ++next;
    }
    lines.emplace_back(text.substr(begin, (keeps_ends ? next : end) - begin));
    begin = next;
  }
  return evaluator.MakeList(std::move(lines));
}

Result Replace(Evaluator& evaluator, const std::string& text,
               const Arguments& arguments) {
  EMBER_RETURN_IF_ERROR(arguments.Check("replace", 3, {"old", "new", "count"}));
  EMBER_ASSIGN_OR_RETURN(const std::string_view old,
                         TextArgument(arguments, 0, "old"));
  EMBER_ASSIGN_OR_RETURN(const std::string_view with,
                         TextArgument(arguments, 1, "new"));
  EMBER_ASSIGN_OR_RETURN(int64_t count,
                         IntegerArgument(arguments, 2, "count", -1));
  EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(text.size()));
  std::string result;
  size_t begin = 0;
  // Searching for an empty text finds it before each character and at the end.
  while (count != 0) {
    const size_t found = old.empty() ? begin : text.find(old, begin);
    if (found == std::string::npos) break;
    EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(with.size()));
    result.append(text, begin, found - begin);
    result += with;
    begin = found + old.size();
    --count;
    if (!old.empty()) continue;
    if (begin >= text.size()) break;
    const size_t size = Utf8At(text, begin).size;
    result.append(text, begin, size);
    begin += size;
  }
  result.append(text, begin);
  return evaluator.MakeText(std::move(result));
}

// Returns the index, in characters, of the first or last occurrence; -1 if
// there is none.
template <bool kLast>
Result Find(Evaluator& evaluator, const std::string& text,
            const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const std::string_view wanted,
                         TextArgument(arguments, 0, "sub"));
  EMBER_RETURN_IF_ERROR(evaluator.ChargeSteps(text.size() / 16));
  const size_t found = kLast ? text.rfind(wanted) : text.find(wanted);
  if (found == std::string::npos) return Value(int64_t{-1});
  return Value(static_cast<int64_t>(
      CharacterCount(std::string_view(text).substr(0, found))));
}

Result Index(Evaluator& evaluator, const std::string& text,
             const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const Value found,
                         Find<false>(evaluator, text, arguments));
  if (found.integer() < 0) {
    return InvalidArgumentError("index: expected a part of the text");
  }
  return found;
}

Result Count(Evaluator& evaluator, const std::string& text,
             const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const std::string_view wanted,
                         TextArgument(arguments, 0, "sub"));
  EMBER_RETURN_IF_ERROR(evaluator.ChargeSteps(text.size() / 16));
  if (wanted.empty()) {
    return Value(static_cast<int64_t>(CharacterCount(text)) + 1);
  }
  int64_t count = 0;
  for (size_t at = text.find(wanted); at != std::string::npos;
       at = text.find(wanted, at + wanted.size())) {
    ++count;
  }
  return Value(count);
}

Result Join(Evaluator& evaluator, const std::string& text,
            const Arguments& arguments) {
  const Value* const items = arguments.Find(0, "iterable");
  if (items == nullptr) return InvalidArgumentError("join: expected texts");
  EMBER_ASSIGN_OR_RETURN(const Items all, evaluator.ItemsOf(*items));
  for (const Value& item : all) {
    if (item.is_text()) continue;
    return InvalidArgumentError(
        Concat({"join: expected texts, found ", item.TypeName()}));
  }
  Arguments separator;
  separator.positional.emplace_back(text);
  return evaluator.ApplyFilter("join", *items, separator);
}

// True if the text is not empty and all its characters have the property.
template <bool (*kHas)(uint32_t code)>
Result Is(Evaluator& evaluator, const std::string& text, const Arguments&) {
  EMBER_RETURN_IF_ERROR(evaluator.ChargeSteps(text.size() / 16));
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = Utf8At(text, at);
    at += c.size;
    if (!kHas(c.code)) return Value(false);
  }
  return Value(!text.empty());
}

bool IsDigitCharacter(uint32_t code) {
  return IsAlphanumeric(code) && !IsLetter(code);
}

// True if the text has a letter of one case and no letter of the other.
template <bool (*kHas)(uint32_t code), bool (*kHasNot)(uint32_t code)>
Result IsCase(Evaluator& evaluator, const std::string& text, const Arguments&) {
  EMBER_RETURN_IF_ERROR(evaluator.ChargeSteps(text.size() / 16));
  bool has = false;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = Utf8At(text, at);
    at += c.size;
    if (kHasNot(c.code)) return Value(false);
    has |= kHas(c.code);
  }
  return Value(has);
}

template <bool kAtEnd>
Result RemoveEnd(Evaluator& evaluator, const std::string& text,
                 const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const std::string_view part,
                         TextArgument(arguments, 0, "prefix"));
  std::string_view rest = text;
  if (kAtEnd && rest.ends_with(part)) rest.remove_suffix(part.size());
  if (!kAtEnd && rest.starts_with(part)) rest.remove_prefix(part.size());
  return evaluator.MakeText(std::string(rest));
}

// Implements ljust, rjust and center: pads the text with a character to a
// width.
template <bool kLeft, bool kRight>
Result Pad(Evaluator& evaluator, const std::string& text,
           const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(
      const int64_t width,
      IntegerArgument(arguments, 0, "width", kLeft && kRight ? 80 : 0));
  const Value* const fill = arguments.Find(1, "fillchar");
  const std::string character =
      fill != nullptr && fill->is_text() ? fill->text() : " ";
  const auto count = static_cast<int64_t>(CharacterCount(text));
  if (width <= count) return Value(text);
  const auto missing = static_cast<uint64_t>(width - count);
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(missing, character.size(), &bytes)) {
    bytes = UINT64_MAX;
  }
  EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(bytes));
  // If the padding cannot be divided equally, Python puts one more character on
  // the left if the width is odd.
  uint64_t before = 0;
  if (kLeft) before = missing;
  if (kLeft && kRight) {
    before = missing / 2 + (missing & static_cast<uint64_t>(width) & 1);
  }
  std::string result;
  for (uint64_t i = 0; i < before; ++i) result += character;
  result += text;
  for (uint64_t i = before; i < missing; ++i) result += character;
  return evaluator.MakeText(std::move(result));
}

Result FillZeros(Evaluator& evaluator, const std::string& text,
                 const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const int64_t width,
                         IntegerArgument(arguments, 0, "width", 0));
  const auto count = static_cast<int64_t>(CharacterCount(text));
  if (width <= count) return Value(text);
  EMBER_RETURN_IF_ERROR(
      evaluator.ChargeBytes(static_cast<uint64_t>(width - count)));
  const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  std::string result = text;
  result.insert(sign, static_cast<size_t>(width - count), '0');
  return evaluator.MakeText(std::move(result));
}

template <bool kLast>
Result Partition(Evaluator& evaluator, const std::string& text,
                 const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const std::string_view separator,
                         TextArgument(arguments, 0, "sep"));
  if (separator.empty()) {
    return InvalidArgumentError("partition: expected a separator, found ''");
  }
  EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(text.size() + 64));
  const size_t found = kLast ? text.rfind(separator) : text.find(separator);
  if (found == std::string::npos) {
    return evaluator.MakeTuple(kLast
                                   ? Items{Value(""), Value(""), Value(text)}
                                   : Items{Value(text), Value(""), Value("")});
  }
  return evaluator.MakeTuple({Value(text.substr(0, found)), Value(separator),
                              Value(text.substr(found + separator.size()))});
}

// Implements Python's str.format for the fields {}, {0} and {name}.
Result Format(Evaluator& evaluator, const std::string& text,
              const Arguments& arguments) {
  std::string result;
  size_t next = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      result += c;
      ++i;
      continue;
    }
    if (c != '{') {
      result += c;
      continue;
    }
    const size_t end = text.find('}', i);
    if (end == std::string::npos) {
      return InvalidArgumentError("format: expected } behind {");
    }
    const std::string name = text.substr(i + 1, end - i - 1);
    const bool is_number =
        !name.empty() && name.size() < 10 &&
        name.find_first_not_of("0123456789") == std::string::npos;
    const size_t position = name.empty() ? next++
                            : is_number  ? std::stoul(name)
                                         : arguments.positional.size();
    const Value* const value = arguments.Find(position, name);
    if (value == nullptr) {
      return InvalidArgumentError(
          "format: expected a value for each {}, and no format behind ':'");
    }
    EMBER_ASSIGN_OR_RETURN(const std::string part, evaluator.TextOf(*value));
    result += part;
    i = end;
  }
  return evaluator.MakeText(std::move(result));
}

struct Row {
  std::string_view name;
  TextMethod method;
};

}  // namespace

TextMethod FindTextMethod(std::string_view name) {
  static constexpr Row kRows[] = {
      {"capitalize", Capitalize},
      {"center", Pad<true, true>},
      {"count", Count},
      {"endswith", HasEnd<true>},
      {"find", Find<false>},
      {"format", Format},
      {"index", Index},
      {"isalnum", Is<IsAlphanumeric>},
      {"isalpha", Is<IsLetter>},
      {"isdecimal", Is<IsDigitCharacter>},
      {"isdigit", Is<IsDigitCharacter>},
      {"islower", IsCase<IsLower, IsUpper>},
      {"isnumeric", Is<IsDigitCharacter>},
      {"isspace", Is<IsWhitespace>},
      {"isupper", IsCase<IsUpper, IsLower>},
      {"join", Join},
      {"ljust", Pad<false, true>},
      {"lower", Lower},
      {"lstrip", Strip<true, false>},
      {"partition", Partition<false>},
      {"removeprefix", RemoveEnd<false>},
      {"removesuffix", RemoveEnd<true>},
      {"replace", Replace},
      {"rfind", Find<true>},
      {"rjust", Pad<true, false>},
      {"rpartition", Partition<true>},
      {"rsplit", Split<true>},
      {"rstrip", Strip<false, true>},
      {"split", Split<false>},
      {"splitlines", SplitLines},
      {"startswith", HasEnd<false>},
      {"strip", Strip<true, true>},
      {"swapcase", SwapCase},
      {"title", Title},
      {"upper", Upper},
      {"zfill", FillZeros},
  };
  for (const Row& row : kRows) {
    if (row.name == name) return row.method;
  }
  return nullptr;
}

}  // namespace ember::llm
