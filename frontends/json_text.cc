#include "frontends/json_text.h"

#include <nlohmann/json.hpp>
#include <string>

namespace ember::frontends {
namespace {

// Replaces the words Infinity, -Infinity and NaN, which JSON does not have, by
// the given JSON texts. Inside strings these words are kept.
std::string WithoutWords(std::string_view text, const JsonWords& words) {
  const std::pair<std::string_view, std::string_view> replaced[] = {
      {"Infinity", words.infinity},
      {"-Infinity", words.negative_infinity},
      {"NaN", words.nan}};
  std::string result;
  result.reserve(text.size());
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      result += c;
      if (c == '\\' && i + 1 < text.size()) result += text[++i];
      if (c == '"') in_string = false;
      continue;
    }
    bool is_word = false;
    if (c == 'I' || c == '-' || c == 'N') {
      for (const auto& [word, json] : replaced) {
        if (!text.substr(i).starts_with(word)) continue;
        result += json;
        i += word.size() - 1;
        is_word = true;
        break;
      }
    }
    if (is_word) continue;
    in_string = c == '"';
    result += c;
  }
  return result;
}

}  // namespace

StatusOr<nlohmann::json> ParseJsonText(std::string_view text,
                                       std::string_view what,
                                       const JsonWords& words) {
  if (text.size() > kMaxJsonText) {
    return ResourceExhaustedError(std::string(what) + ": expected at most " +
                                  std::to_string(kMaxJsonText) +
                                  " bytes, found " +
                                  std::to_string(text.size()));
  }
  nlohmann::json json =
      nlohmann::json::parse(WithoutWords(text, words), nullptr,
                            /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return DataLossError(std::string(what) +
                         ": expected JSON, found text that is none");
  }
  return json;
}

}  // namespace ember::frontends
