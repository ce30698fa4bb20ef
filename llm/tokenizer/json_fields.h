// Typed access to the fields of JSON objects, with errors that name the field.
//
//   const nlohmann::json* model = FindField(root, "model");   // or null
//   EMBER_ASSIGN_OR_RETURN(const std::string type,
//                          TextField(*model, "model", "type"));
//
// Functions whose names end in Or return a default if the field is absent or
// null. No function throws. Thread-safe.
#ifndef EMBER_LLM_TOKENIZER_JSON_FIELDS_H_
#define EMBER_LLM_TOKENIZER_JSON_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::llm {

// Parses a JSON text. Error: it has more than `most_bytes` bytes or
// `most_values` values.
StatusOr<nlohmann::json> ParseBoundedJson(std::string_view text,
                                          std::string_view what,
                                          size_t most_bytes,
                                          size_t most_values);

// Returns the field of an object. Returns null if the value is no object, if it
// lacks the field, or if the field is null.
const nlohmann::json* FindField(const nlohmann::json& object,
                                std::string_view name);

StatusOr<std::string> TextField(const nlohmann::json& object,
                                std::string_view what, std::string_view name);
StatusOr<std::string> TextFieldOr(const nlohmann::json& object,
                                  std::string_view what, std::string_view name,
                                  std::string_view otherwise);
StatusOr<bool> BoolFieldOr(const nlohmann::json& object, std::string_view what,
                           std::string_view name, bool otherwise);
StatusOr<int64_t> IntegerField(const nlohmann::json& object,
                               std::string_view what, std::string_view name);
StatusOr<int64_t> IntegerFieldOr(const nlohmann::json& object,
                                 std::string_view what, std::string_view name,
                                 int64_t otherwise);

// Returns an error for a field of a wrong type, e.g. "model.type: expected a
// text, found array".
Status WrongField(std::string_view what, std::string_view name,
                  std::string_view expected, const nlohmann::json* found);

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_JSON_FIELDS_H_
