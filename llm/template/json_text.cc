#include "llm/template/json_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "llm/text/utf8.h"

namespace ember::llm {
namespace {

using json = nlohmann::ordered_json;
using Kind = Value::Kind;

constexpr size_t kMaxJsonBytes = size_t{64} << 20;
constexpr int kMaxJsonDepth = 60;

Status CheckDepth(std::string_view text, std::string_view what) {
  int depth = 0;
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
    if (c == ']' || c == '}') --depth;
    if (depth > kMaxJsonDepth) {
      return ResourceExhaustedError(
          Concat({what, ": expected at most ", kMaxJsonDepth,
                  " nested values, found more"}));
    }
  }
  return OkStatus();
}

Value FromJson(const json& value) {
  switch (value.type()) {
    case json::value_t::boolean:
      return Value(value.get<bool>());
    case json::value_t::number_integer:
      return Value(value.get<int64_t>());
    case json::value_t::number_unsigned: {
      const auto number = value.get<uint64_t>();
      if (number > INT64_MAX) return Value(static_cast<double>(number));
      return Value(static_cast<int64_t>(number));
    }
    case json::value_t::number_float:
      return Value(value.get<double>());
    case json::value_t::string:
      return Value(value.get_ref<const std::string&>());
    case json::value_t::array: {
      Value::Items items;
      items.reserve(value.size());
      for (const json& item : value) items.push_back(FromJson(item));
      return Value::List(std::move(items));
    }
    case json::value_t::object: {
      Dict dict;
      for (const auto& [key, item] : value.items()) {
        dict.Set(Value(key), FromJson(item));
      }
      return Value::OfDict(std::move(dict));
    }
    default:
      return Value();
  }
}

class Writer {
 public:
  explicit Writer(const JsonStyle& style) : style_(style) {}

  Status Write(const Value& value, int level) {
    switch (value.kind()) {
      case Kind::kNone:
        text_ += "null";
        return OkStatus();
      case Kind::kBool:
        text_ += value.integer() != 0 ? "true" : "false";
        return OkStatus();
      case Kind::kInteger:
        text_ += std::to_string(value.integer());
        return OkStatus();
      case Kind::kFloat:
        WriteFloat(value.number());
        return OkStatus();
      case Kind::kText:
        WriteText(value.text());
        return OkStatus();
      case Kind::kList:
      case Kind::kTuple:
        return WriteList(value.items(), level);
      case Kind::kDict:
        return WriteDict(value.dict(), level);
      case Kind::kUndefined:
      case Kind::kNamespace:
      case Kind::kFunction:
      case Kind::kLoop:
        break;
    }
    return InvalidArgumentError(Concat(
        {"tojson: expected a value that JSON has, found ", value.TypeName()}));
  }

  std::string Take() { return std::move(text_); }

 private:
  void WriteFloat(double number) {
    if (std::isnan(number)) {
      text_ += "NaN";
    } else if (std::isinf(number)) {
      text_ += number < 0 ? "-Infinity" : "Infinity";
    } else {
      text_ += FloatText(number);
    }
  }

  void WriteEscape(uint32_t unit) {
    static constexpr char kHex[] = "0123456789abcdef";
    text_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) {
      text_ += kHex[unit >> shift & 15];
    }
  }

  void WriteText(std::string_view text) {
    text_ += '"';
    for (size_t at = 0; at < text.size();) {
      const Utf8Char c = Utf8At(text, at);
      at += c.size;
      static constexpr std::string_view kEscaped = "\"\\\n\r\t\b\f";
      static constexpr std::string_view kLetters = "\"\\nrtbf";
      const size_t known = c.code < 0x80
                               ? kEscaped.find(static_cast<char>(c.code))
                               : std::string_view::npos;
      if (known != std::string_view::npos) {
        text_ += '\\';
        text_ += kLetters[known];
      } else if (c.code < 0x20) {
        WriteEscape(c.code);
      } else if (c.code < 0x80 || !style_.ensures_ascii) {
        AppendUtf8(c.code, &text_);
      } else if (c.code < 0x10000) {
        WriteEscape(c.code);
      } else {
        WriteEscape(0xd800 + ((c.code - 0x10000) >> 10));
        WriteEscape(0xdc00 + ((c.code - 0x10000) & 0x3ff));
      }
    }
    text_ += '"';
  }

  void WriteLine(int level) {
    if (!style_.indent) return;
    text_ += '\n';
    for (int i = 0; i < level; ++i) text_ += *style_.indent;
  }

  Status WriteList(const Value::Items& items, int level) {
    text_ += '[';
    bool is_first = true;
    for (const Value& item : items) {
      if (!is_first) text_ += style_.item_separator;
      is_first = false;
      WriteLine(level + 1);
      EMBER_RETURN_IF_ERROR(Write(item, level + 1));
    }
    if (!items.empty()) WriteLine(level);
    text_ += ']';
    return OkStatus();
  }

  // Writes the key of a dict. JSON has only texts as keys, so another key is
  // converted to text.
  Status WriteKey(const Value& key) {
    if (key.is_text()) {
      WriteText(key.text());
      return OkStatus();
    }
    Writer inner(style_);
    EMBER_RETURN_IF_ERROR(inner.Write(key, 0));
    WriteText(inner.Take());
    return OkStatus();
  }

  Status WriteDict(const Dict& dict, int level) {
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& entry : dict.entries()) entries.push_back(&entry);
    if (style_.sorts_keys) {
      std::stable_sort(entries.begin(), entries.end(),
                       [](const auto* a, const auto* b) {
                         return a->first.ToText() < b->first.ToText();
                       });
    }
    text_ += '{';
    bool is_first = true;
    for (const auto* entry : entries) {
      if (!is_first) text_ += style_.item_separator;
      is_first = false;
      WriteLine(level + 1);
      EMBER_RETURN_IF_ERROR(WriteKey(entry->first));
      text_ += style_.key_separator;
      EMBER_RETURN_IF_ERROR(Write(entry->second, level + 1));
    }
    if (!entries.empty()) WriteLine(level);
    text_ += '}';
    return OkStatus();
  }

  const JsonStyle& style_;
  std::string text_;
};

}  // namespace

StatusOr<Value> ParseJsonValue(std::string_view text, std::string_view what) {
  if (text.size() > kMaxJsonBytes) {
    return ResourceExhaustedError(
        Concat({what, ": expected at most ", kMaxJsonBytes, " bytes, found ",
                text.size()}));
  }
  EMBER_RETURN_IF_ERROR(CheckDepth(text, what));
  const json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return InvalidArgumentError(
        Concat({what, ": expected JSON, found text that is none"}));
  }
  return FromJson(value);
}

StatusOr<std::string> ToJson(const Value& value, const JsonStyle& style) {
  Writer writer(style);
  EMBER_RETURN_IF_ERROR(writer.Write(value, 0));
  return writer.Take();
}

}  // namespace ember::llm
