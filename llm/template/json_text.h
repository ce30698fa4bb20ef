// Converts JSON texts to values of templates, and values to JSON texts.
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
  // If set, each item is on a line of its own, indented by this text once per
  // level.
  std::optional<std::string> indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool ensures_ascii = false;
  bool sorts_keys = false;
};

// Returns the JSON text of a value. Error: the value, or a part of it, does not
// exist in JSON (such as an undefined value).
StatusOr<std::string> ToJson(const Value& value, const JsonStyle& style);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_JSON_TEXT_H_
