#include "llm/tokenizer/json_fields.h"

#include <nlohmann/json.hpp>

#include "base/concat.h"

namespace ember::llm {
namespace {

using nlohmann::json;

constexpr size_t kMaxDepth = 64;

// Counts the values and the nesting depth of a JSON text without parsing it.
// Each value of an array or object, except the first, follows a comma.
Status CheckSize(std::string_view text, std::string_view what,
                 size_t most_values) {
  size_t values = 1, depth = 0;
  bool is_in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_text) {
      if (c == '\\') ++i;
      if (c == '"') is_in_text = false;
      continue;
    }
    is_in_text = c == '"';
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') depth -= depth > 0 ? 1 : 0;
    if (c == ',' || c == '[' || c == '{') ++values;
    if (depth > kMaxDepth) {
      return ResourceExhaustedError(
          Concat({what, ": expected at most ", kMaxDepth,
                  " nested values, found more at byte ", i}));
    }
    if (values > most_values) {
      return ResourceExhaustedError(
          Concat({what, ": expected at most ", most_values,
                  " values, found more at byte ", i}));
    }
  }
  return OkStatus();
}

}  // namespace

StatusOr<json> ParseBoundedJson(std::string_view text, std::string_view what,
                                size_t most_bytes, size_t most_values) {
  if (text.size() > most_bytes) {
    return ResourceExhaustedError(
        Concat({what, ": expected at most ", most_bytes, " bytes, found ",
                text.size()}));
  }
  EMBER_RETURN_IF_ERROR(CheckSize(text, what, most_values));
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return DataLossError(
        Concat({what, ": expected JSON, found text that is none"}));
  }
  return value;
}

const json* FindField(const json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Status WrongField(std::string_view what, std::string_view name,
                  std::string_view expected, const json* found) {
  return InvalidArgumentError(
      Concat({what, ".", name, ": expected ", expected, ", found ",
              found == nullptr ? "nothing" : found->type_name()}));
}

StatusOr<std::string> TextField(const json& object, std::string_view what,
                                std::string_view name) {
  const json* const field = FindField(object, name);
  if (field == nullptr || !field->is_string()) {
    return WrongField(what, name, "a text", field);
  }
  return field->get_ref<const std::string&>();
}

StatusOr<std::string> TextFieldOr(const json& object, std::string_view what,
                                  std::string_view name,
                                  std::string_view otherwise) {
  if (FindField(object, name) == nullptr) return std::string(otherwise);
  return TextField(object, what, name);
}

StatusOr<bool> BoolFieldOr(const json& object, std::string_view what,
                           std::string_view name, bool otherwise) {
  const json* const field = FindField(object, name);
  if (field == nullptr) return otherwise;
  if (!field->is_boolean()) return WrongField(what, name, "a bool", field);
  return field->get<bool>();
}

StatusOr<int64_t> IntegerField(const json& object, std::string_view what,
                               std::string_view name) {
  const json* const field = FindField(object, name);
  if (field == nullptr || !field->is_number_integer()) {
    return WrongField(what, name, "an integer", field);
  }
  return field->get<int64_t>();
}

StatusOr<int64_t> IntegerFieldOr(const json& object, std::string_view what,
                                 std::string_view name, int64_t otherwise) {
  if (FindField(object, name) == nullptr) return otherwise;
  return IntegerField(object, what, name);
}

}  // namespace ember::llm
