// Implements the filters on texts and numbers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/concat.h"
#include "llm/template/evaluator.h"
#include "llm/template/filters.h"
#include "llm/template/json_text.h"
#include "llm/template/methods.h"
#include "llm/text/unicode.h"
#include "llm/text/utf8.h"

namespace ember::llm {
namespace {

using Result = StatusOr<Value>;

// Returns the value of an integer argument, or a default if it is not given.
StatusOr<int64_t> IntegerArgument(const Arguments& arguments, size_t position,
                                  std::string_view name, int64_t otherwise) {
  const Value* const value = arguments.Find(position, name);
  if (value == nullptr || value->is_none()) return otherwise;
  if (value->is_integer()) return value->integer();
  return InvalidArgumentError(Concat(
      {"argument ", name, ": expected an integer, found ", value->TypeName()}));
}

bool BoolArgument(const Arguments& arguments, size_t position,
                  std::string_view name, bool otherwise) {
  const Value* const value = arguments.Find(position, name);
  return value == nullptr ? otherwise : value->IsTrue();
}

// Converts the object to text and applies a method of texts to it.
template <size_t kSize>
struct MethodName {
  constexpr MethodName(const char (&name)[kSize]) {
    std::copy_n(name, kSize, text);
  }
  char text[kSize];
};
template <MethodName kName>
Result ByMethod(Evaluator& evaluator, const Value& object,
                const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const std::string text, evaluator.TextOf(object));
  return FindTextMethod(kName.text)(evaluator, text, arguments);
}

// Implements the filter title: as Python's str.title, except that words are
// separated only by white space, hyphens and brackets.
Result Title(Evaluator& evaluator, const Value& object, const Arguments&) {
  EMBER_ASSIGN_OR_RETURN(const std::string text, evaluator.TextOf(object));
  std::string result;
  bool begins_word = true;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = Utf8At(text, at);
    at += c.size;
    AppendUtf8(begins_word ? ToUpper(c.code) : ToLower(c.code), &result);
    begins_word = c.code == '-' || c.code == '(' || c.code == '{' ||
                  c.code == '[' || c.code == '<' || IsWhitespace(c.code);
  }
  return evaluator.MakeText(std::move(result));
}

Result Text(Evaluator& evaluator, const Value& object, const Arguments&) {
  EMBER_ASSIGN_OR_RETURN(std::string text, evaluator.TextOf(object));
  return Value(std::move(text));
}

Result Escape(Evaluator& evaluator, const Value& object, const Arguments&) {
  EMBER_ASSIGN_OR_RETURN(const std::string text, evaluator.TextOf(object));
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '\'':
        result += "&#39;";
        break;
      case '"':
        result += "&#34;";
        break;
      default:
        result += c;
    }
  }
  return evaluator.MakeText(std::move(result));
}

// Implements the filter indent: puts spaces or a given text before each line.
// The first line is left out unless `first`, and empty lines unless `blank`.
Result Indent(Evaluator& evaluator, const Value& object,
              const Arguments& arguments) {
  EMBER_RETURN_IF_ERROR(
      arguments.Check("indent", 3, {"width", "first", "blank"}));
  EMBER_ASSIGN_OR_RETURN(const std::string text, evaluator.TextOf(object));
  std::string indent(4, ' ');
  const Value* const width = arguments.Find(0, "width");
  if (width != nullptr && width->is_text()) {
    indent = width->text();
  } else {
    EMBER_ASSIGN_OR_RETURN(const int64_t count,
                           IntegerArgument(arguments, 0, "width", 4));
    EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(
        static_cast<uint64_t>(std::max<int64_t>(count, 0))));
    indent.assign(static_cast<size_t>(std::max<int64_t>(count, 0)), ' ');
  }
  const bool indents_first = BoolArgument(arguments, 1, "first", false);
  const bool indents_blank = BoolArgument(arguments, 2, "blank", false);
  const auto lines =
      static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n') + 1);
  uint64_t added = 0;
  if (__builtin_mul_overflow(lines, indent.size(), &added)) added = UINT64_MAX;
  EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(added));
  std::string result;
  for (size_t begin = 0, number = 0; begin <= text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const bool is_indented =
        number == 0 ? indents_first : end > begin || indents_blank;
    if (is_indented) result += indent;
    result.append(text, begin, end - begin);
    if (end < text.size()) result += '\n';
    begin = end + 1;
  }
  return evaluator.MakeText(std::move(result));
}

Result Truncate(Evaluator& evaluator, const Value& object,
                const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const std::string text, evaluator.TextOf(object));
  EMBER_ASSIGN_OR_RETURN(const int64_t length,
                         IntegerArgument(arguments, 0, "length", 255));
  const bool cuts_words = BoolArgument(arguments, 1, "killwords", false);
  const Value* const end = arguments.Find(2, "end");
  const std::string suffix = end != nullptr ? end->ToText() : "...";
  EMBER_ASSIGN_OR_RETURN(const int64_t leeway,
                         IntegerArgument(arguments, 3, "leeway", 5));
  const auto count = static_cast<int64_t>(CharacterCount(text));
  if (count <= length || count - length <= leeway) return Value(text);
  int64_t kept = std::max<int64_t>(
      length - static_cast<int64_t>(CharacterCount(suffix)), 0);
  size_t at = 0;
  for (; kept > 0; --kept) at += Utf8At(text, at).size;
  std::string result = text.substr(0, at);
  if (!cuts_words) {
    const size_t space = result.rfind(' ');
    if (space != std::string::npos) result.resize(space);
  }
  return evaluator.MakeText(result + suffix);
}

Result WordCount(Evaluator& evaluator, const Value& object, const Arguments&) {
  EMBER_ASSIGN_OR_RETURN(const std::string text, evaluator.TextOf(object));
  int64_t count = 0;
  bool is_in_word = false;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = Utf8At(text, at);
    at += c.size;
    const bool is_word = c.code == '_' || IsAlphanumeric(c.code);
    if (is_word && !is_in_word) ++count;
    is_in_word = is_word;
  }
  return Value(count);
}

// Implements the filter format, which is Python's "text % arguments".
Result Format(Evaluator& evaluator, const Value& object,
              const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const std::string text, evaluator.TextOf(object));
  return Compute("%", Value(text), Value::Tuple(arguments.positional),
                 evaluator);
}

Result ToInteger(Evaluator& evaluator, const Value& object,
                 const Arguments& arguments) {
  EMBER_RETURN_IF_ERROR(arguments.Check("int", 2, {"default", "base"}));
  if (object.is_integer()) return Value(object.integer());
  if (object.is_number() && std::abs(object.number()) < 9e18) {
    return Value(static_cast<int64_t>(object.number()));
  }
  EMBER_ASSIGN_OR_RETURN(const int64_t base,
                         IntegerArgument(arguments, 1, "base", 10));
  if (object.is_text() && base >= 2 && base <= 36) {
    EMBER_RETURN_IF_ERROR(evaluator.ChargeSteps(object.text().size() / 16));
    std::string text = object.text();
    text.erase(0, std::min(text.find_first_not_of(" \t\n\r+"), text.size()));
    while (text.ends_with(' ') || text.ends_with('\n')) text.pop_back();
    int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto read =
        std::from_chars(text.data(), end, number, static_cast<int>(base));
    if (read.ec == std::errc() && read.ptr == end) return Value(number);
    double real = 0;
    const auto read_real = std::from_chars(text.data(), end, real);
    if (read_real.ec == std::errc() && read_real.ptr == end &&
        std::abs(real) < 9e18) {
      return Value(static_cast<int64_t>(real));
    }
  }
  const Value* const otherwise = arguments.Find(0, "default");
  return otherwise != nullptr ? *otherwise : Value(int64_t{0});
}

Result ToFloat(Evaluator&, const Value& object, const Arguments& arguments) {
  if (object.is_number()) return Value(object.number());
  if (object.is_text()) {
    const std::string& text = object.text();
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec == std::errc() && read.ptr == end) return Value(number);
  }
  const Value* const otherwise = arguments.Find(0, "default");
  return otherwise != nullptr ? *otherwise : Value(0.0);
}

Result Absolute(Evaluator& evaluator, const Value& object, const Arguments&) {
  if (object.kind() == Value::Kind::kFloat) {
    return Value(std::abs(object.number()));
  }
  if (!object.is_integer()) {
    return InvalidArgumentError(
        Concat({"abs: expected a number, found ", object.TypeName()}));
  }
  if (object.integer() >= 0) return Value(object.integer());
  return Compute("-", Value(int64_t{0}), object, evaluator);
}

Result Round(Evaluator&, const Value& object, const Arguments& arguments) {
  EMBER_RETURN_IF_ERROR(arguments.Check("round", 2, {"precision", "method"}));
  if (!object.is_number()) {
    return InvalidArgumentError(
        Concat({"round: expected a number, found ", object.TypeName()}));
  }
  EMBER_ASSIGN_OR_RETURN(const int64_t precision,
                         IntegerArgument(arguments, 0, "precision", 0));
  const Value* const method = arguments.Find(1, "method");
  const std::string name = method != nullptr ? method->ToText() : "common";
  const double scale = std::pow(
      10.0, static_cast<double>(std::clamp<int64_t>(precision, -300, 300)));
  const double scaled = object.number() * scale;
  if (name == "ceil") return Value(std::ceil(scaled) / scale);
  if (name == "floor") return Value(std::floor(scaled) / scale);
  if (name != "common") {
    return InvalidArgumentError("round: expected common, ceil or floor");
  }
  return Value(std::nearbyint(scaled) / scale);
}

// Implements tojson as in the transformers library, with the arguments of
// json.dumps.
Result ToJsonText(Evaluator& evaluator, const Value& object,
                  const Arguments& arguments) {
  EMBER_RETURN_IF_ERROR(arguments.Check(
      "tojson", 4, {"ensure_ascii", "indent", "separators", "sort_keys"}));
  JsonStyle style;
  style.ensures_ascii = BoolArgument(arguments, 0, "ensure_ascii", false);
  style.sorts_keys = BoolArgument(arguments, 3, "sort_keys", false);
  const Value* const indent = arguments.Find(1, "indent");
  if (indent != nullptr && !indent->is_none()) {
    if (indent->is_text()) {
      style.indent = indent->text();
    } else {
      EMBER_ASSIGN_OR_RETURN(const int64_t count,
                             IntegerArgument(arguments, 1, "indent", 0));
      style.indent = std::string(
          static_cast<size_t>(std::clamp<int64_t>(count, 0, 64)), ' ');
    }
    style.item_separator = ",";
  }
  const Value* const separators = arguments.Find(2, "separators");
  if (separators != nullptr && separators->is_sequence() &&
      separators->items().size() == 2) {
    style.item_separator = separators->items()[0].ToText();
    style.key_separator = separators->items()[1].ToText();
  }
  // An upper bound of the result's size: each value may have separators and a
  // line with indentation, and escaping makes at most six bytes of one.
  const uint64_t per_value = 8 + style.item_separator.size() +
                             style.key_separator.size() +
                             (style.indent ? style.indent->size() * 66 : 0);
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(object.Weight(), uint64_t{2}, &bytes)) {
    bytes = UINT64_MAX;
  }
  EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(bytes));
  if (per_value > 4096) {
    return ResourceExhaustedError(
        "tojson: expected short separators and indents, found long ones");
  }
  EMBER_ASSIGN_OR_RETURN(std::string text, ToJson(object, style));
  return evaluator.MakeText(std::move(text));
}

}  // namespace

std::span<const FilterRow> TextFilters() {
  static constexpr FilterRow kRows[] = {
      {"abs", Absolute},
      {"capitalize", ByMethod<"capitalize">},
      {"center", ByMethod<"center">},
      {"e", Escape},
      {"escape", Escape},
      {"float", ToFloat},
      {"format", Format},
      {"indent", Indent},
      {"int", ToInteger},
      {"lower", ByMethod<"lower">},
      {"replace", ByMethod<"replace">},
      {"round", Round},
      {"safe", Text},
      {"string", Text},
      {"title", Title},
      {"tojson", ToJsonText},
      {"trim", ByMethod<"strip">},
      {"truncate", Truncate},
      {"upper", ByMethod<"upper">},
      {"wordcount", WordCount},
  };
  return kRows;
}

}  // namespace ember::llm
