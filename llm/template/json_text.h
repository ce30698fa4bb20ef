// JSON texts become values of templates, and values JSON texts.
//
//   EMBER_ASSIGN_OR_RETURN(const Value messages, ParseJsonValue(text, "messages"));
//   ToJson(messages, {});   // [{"role": "user", "content": "Hi"}]
//
// Dicts keep the order of the text. The separators are those of Python's
// json.dumps. Parsed texts are at most 64 MiB and nested at most 60 deep.
// Thread-safe.
#ifndef EMBER_LLM_TEMPLATE_JSON_TEXT_H_
#define EMBER_LLM_TEMPLATE_JSON_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "llm/template/value.h"

namespace ember::llm {

StatusOr<Value> ParseJsonValue(std::string_view text, std::string_view what);

struct JsonStyle {
  // Each item gets its own line, indented by a number of these per level.
  std::optional<std::string> indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool ensures_ascii = false;
  bool sorts_keys = false;
};

// An error for a value that JSON does not have, such as an undefined one.
StatusOr<std::string> ToJson(const Value& value, const JsonStyle& style);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_JSON_TEXT_H_
