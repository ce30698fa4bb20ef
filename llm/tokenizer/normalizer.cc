#include "llm/tokenizer/normalizer.h"

#include <utility>

#include "base/concat.h"
#include "llm/text/unicode.h"
#include "llm/text/utf8.h"

namespace ember::llm {
namespace {

using Kind = NormalizerStep::Kind;

// Calls map(code, &result) for each character of the text. Returns the result,
// to which `map` appends.
template <typename Map>
std::string MapCharacters(std::string_view text, const Map& map) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = Utf8At(text, at);
    at += c.size;
    map(c.code, &result);
  }
  return result;
}

void CleanCharacter(uint32_t code, std::string* result) {
  if (IsWhitespace(code)) {
    *result += ' ';
  } else if (code != 0 && code != kReplacementCharacter && !IsControl(code)) {
    AppendUtf8(code, result);
  }
}

void IsolateCharacter(uint32_t code, std::string* result) {
  if (!IsChinese(code)) return AppendUtf8(code, result);
  *result += ' ';
  AppendUtf8(code, result);
  *result += ' ';
}

std::string WithoutSpaceAtBegin(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Char c = Utf8At(text, at);
    if (!IsWhitespace(c.code)) break;
    at += c.size;
  }
  return std::string(text.substr(at));
}

std::string WithoutSpaceAtEnd(std::string_view text) {
  size_t end = 0;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = Utf8At(text, at);
    at += c.size;
    if (!IsWhitespace(c.code)) end = at;
  }
  return std::string(text.substr(0, end));
}

std::string WithoutRepeatedSpaces(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == ' ' && (result.empty() || result.back() == ' ')) continue;
    result += c;
  }
  if (result.ends_with(' ')) result.pop_back();
  return result;
}

Status TooLong(size_t most) {
  return ResourceExhaustedError(
      Concat({"normalizer: expected a text of at most ", most,
              " bytes, found a longer one"}));
}

// Returns the text in which the ranges that `find` reports are replaced by
// `content`.
template <typename Find>
Status Replace(const Find& find, std::string_view content, size_t most,
               std::string* text) {
  std::string result;
  size_t copied = 0;
  bool fits = true;
  EMBER_RETURN_IF_ERROR(find([&](size_t begin, size_t end) {
    fits = fits && result.size() + content.size() <= most;
    if (!fits) return;
    result.append(*text, copied, begin - copied);
    result += content;
    copied = end;
  }));
  if (!fits) return TooLong(most);
  result.append(*text, copied);
  *text = std::move(result);
  return OkStatus();
}

// Reports each range in which the pattern occurs. The pattern must not be
// empty.
template <typename Found>
Status FindText(std::string_view text, std::string_view pattern,
                const Found& found) {
  for (size_t at = text.find(pattern); at != std::string_view::npos;
       at = text.find(pattern, at + pattern.size())) {
    found(at, at + pattern.size());
  }
  return OkStatus();
}

}  // namespace

StatusOr<Normalizer> Normalizer::Create(std::span<const NormalizerStep> steps) {
  Normalizer normalizer;
  for (const NormalizerStep& definition : steps) {
    Step step{definition, std::nullopt, std::nullopt};
    if (definition.kind != Kind::kCharacterMap) {
      // The content is made valid UTF-8, because regular expressions need valid
      // texts in each later step.
      step.definition.content = ToValidUtf8(definition.content);
    }
    if (definition.kind == Kind::kReplace && definition.pattern.empty()) {
      return InvalidArgumentError(
          "normalizer: expected a text to replace, found an empty one");
    }
    if (definition.kind == Kind::kReplaceRegex) {
      EMBER_ASSIGN_OR_RETURN(step.regex, Regex::Compile(definition.pattern));
    }
    if (definition.kind == Kind::kCharacterMap) {
      EMBER_ASSIGN_OR_RETURN(step.map, CharacterMap::Parse(definition.content));
      step.definition.content.clear();
    }
    normalizer.steps_.push_back(std::move(step));
  }
  return normalizer;
}

Status Normalizer::Apply(const Step& step, size_t most, std::string* text) {
  const std::string& content = step.definition.content;
  switch (step.definition.kind) {
    case Kind::kNfc:
      *text = Normalized(*text, NormalForm::kNfc);
      break;
    case Kind::kNfd:
      *text = Normalized(*text, NormalForm::kNfd);
      break;
    case Kind::kNfkc:
      *text = Normalized(*text, NormalForm::kNfkc);
      break;
    case Kind::kNfkd:
      *text = Normalized(*text, NormalForm::kNfkd);
      break;
    case Kind::kLowercase:
      *text = Lowercase(*text);
      break;
    case Kind::kStripMarks:
      *text = MapCharacters(*text, [](uint32_t code, std::string* result) {
        if (!IsNonspacingMark(code)) AppendUtf8(code, result);
      });
      break;
    case Kind::kCleanText:
      *text = MapCharacters(*text, CleanCharacter);
      break;
    case Kind::kIsolateChinese:
      *text = MapCharacters(*text, IsolateCharacter);
      break;
    case Kind::kReplace:
      return Replace(
          [&](const auto& found) {
            return FindText(*text, step.definition.pattern, found);
          },
          content, most, text);
    case Kind::kReplaceRegex:
      return Replace(
          [&](const auto& found) {
            return step.regex->ForEachMatch(*text, found);
          },
          content, most, text);
    case Kind::kPrepend:
      if (!text->empty()) text->insert(0, content);
      break;
    case Kind::kStripLeft:
      *text = WithoutSpaceAtBegin(*text);
      break;
    case Kind::kStripRight:
      *text = WithoutSpaceAtEnd(*text);
      break;
    case Kind::kCharacterMap: {
      EMBER_ASSIGN_OR_RETURN(*text, step.map->Normalize(*text, most));
      break;
    }
    case Kind::kCollapseSpaces:
      *text = WithoutRepeatedSpaces(*text);
      break;
  }
  return OkStatus();
}

StatusOr<std::string> Normalizer::Normalize(std::string_view text) const {
  const size_t most = MaxNormalizedBytes(text.size());
  std::string result(text);
  for (const Step& step : steps_) {
    EMBER_RETURN_IF_ERROR(Apply(step, most, &result));
    if (result.size() > most) return TooLong(most);
  }
  return result;
}

}  // namespace ember::llm
