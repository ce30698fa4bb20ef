// Imports operators on texts.
#include <algorithm>
#include <utility>

#include "frontends/torchscript/operator_table.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

std::string TextOf(const Value& value, int depth) {
  if (value.is(Kind::kString)) return value.text;
  if (value.is(Kind::kBool) && value.is_known_number())
    return value.known_number() != 0 ? "True" : "False";
  if (value.is(Kind::kInt) && !value.is_dynamic()) return value.dim.ToString();
  if (value.is(Kind::kFloat) && !value.is_dynamic())
    return std::to_string(value.number);
  if (value.is_sequence() && depth < 4) {
    const bool is_tuple = value.is(Kind::kTuple);
    std::string text;
    for (const Value& item : value.list->items) {
      text += (text.empty() ? "" : ", ") + TextOf(item, depth + 1);
      if (text.size() > 1000) break;
    }
    return (is_tuple ? "(" : "[") + text + (is_tuple ? ")" : "]");
  }
  return Describe(value);
}
bool CheckLength(Call& c, size_t size) {
  if (size <= 65536) return true;
  c.FailUnsupported("expected texts of at most 65536 bytes");
  return false;
}
// Imports format, which replaces each {} in a text by one of the following
// arguments.
Value Format(Call& c) {
  std::string text = c.text("self");
  for (const std::string_view name : {"a", "b", "c", "d", "e", "f"}) {
    const size_t at = text.find("{}");
    if (at == std::string::npos) break;
    const std::string part = TextOf(c.value(name), 0);
    if (!CheckLength(c, text.size() + part.size())) return {};
    text.replace(at, 2, part);
  }
  return Value::Text(Kind::kString, text);
}
Value ToText(Call& c) {
  return Value::Text(Kind::kString, TextOf(c.value("a"), 0));
}
Value AddText(Call& c) {
  const std::string a = c.text("a");
  const std::string b = c.text("b");
  if (!CheckLength(c, a.size() + b.size())) return {};
  return Value::Text(Kind::kString, a + b);
}

Value StartsWith(Call& c) {
  return Value::Bool(c.text("self").starts_with(c.text("prefix")));
}
Value EndsWith(Call& c) {
  return Value::Bool(c.text("self").ends_with(c.text("suffix")));
}
// Imports str.find: the index at which a text first occurs between `start` and
// `end` of another text; -1 if it does not occur there.
Value FindText(Call& c) {
  const std::string text = c.text("self");
  const auto size = static_cast<int64_t>(text.size());
  const auto index = [&](std::string_view name) {
    const int64_t at = c.integer(name);
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const int64_t start = index("start");
  // PyTorch's default for `end` is -1 and means the end of the text.
  const int64_t end = c.integer("end") == -1 ? size : index("end");
  const std::string part =
      text.substr(static_cast<size_t>(start),
                  static_cast<size_t>(std::max<int64_t>(end - start, 0)));
  const size_t at = part.find(c.text("substr"));
  return Value::Int(
      Dim(at == std::string::npos ? -1 : static_cast<int64_t>(at) + start));
}
Value InCase(Call& c, char from, char to, int distance) {
  std::string text = c.text("self");
  for (char& letter : text)
    if (letter >= from && letter <= to)
      letter = static_cast<char>(letter + distance);
  return Value::Text(Kind::kString, text);
}
Value LowerCase(Call& c) { return InCase(c, 'A', 'Z', 'a' - 'A'); }
Value UpperCase(Call& c) { return InCase(c, 'a', 'z', 'A' - 'a'); }
Value Strip(Call& c) {
  const std::string text = c.text("self");
  const size_t start = text.find_first_not_of(" \t\n\r\f\v");
  if (start == std::string::npos) return Value::Text(Kind::kString, "");
  const size_t end = text.find_last_not_of(" \t\n\r\f\v");
  return Value::Text(Kind::kString, text.substr(start, end - start + 1));
}
std::vector<std::string> PartsOf(Call& c, const std::string& text,
                                 const std::string& separator) {
  std::vector<std::string> parts;
  if (separator.empty()) {
    c.FailInvalid("expected a text to look for that is not empty");
    return parts;
  }
  for (size_t start = 0;;) {
    const size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string::npos) return parts;
    start = end + separator.size();
  }
}
Value SplitText(Call& c) {
  std::vector<Value> parts;
  for (const std::string& part :
       PartsOf(c, c.text("self"), c.text("separator")))
    parts.push_back(Value::Text(Kind::kString, part));
  return c.machine().NewList(std::move(parts));
}
Value ReplaceText(Call& c) {
  std::string text;
  const std::string fresh = c.text("new");
  bool is_first = true;
  for (const std::string& part : PartsOf(c, c.text("self"), c.text("old"))) {
    if (!CheckLength(c, text.size() + fresh.size() + part.size())) return {};
    text += (is_first ? "" : fresh) + part;
    is_first = false;
  }
  return Value::Text(Kind::kString, text);
}
Value JoinTexts(Call& c) {
  std::string text;
  bool is_first = true;
  for (const Value& item : c.value("values").list->items) {
    if (!CheckLength(c, text.size() + item.text.size() + 1)) return {};
    text += (is_first ? "" : c.text("self")) + item.text;
    is_first = false;
  }
  return Value::Text(Kind::kString, text);
}

constexpr OperatorRow kRows[] = {
    {"startswith(str self, str prefix)", StartsWith},
    {"endswith(str self, str suffix)", EndsWith},
    {"find(str self, str substr, int start=0, int end=-1)", FindText},
    {"lower(str self)", LowerCase},
    {"upper(str self)", UpperCase},
    {"strip(str self)", Strip},
    {"replace(str self, str old, str new)", ReplaceText},
    {"split(str self, str separator)", SplitText},
    {"join(str self, t[] values)", JoinTexts},
    {"format(str self, any a=None, any b=None, any c=None, any d=None, "
     "any e=None, any f=None)",
     Format},
    {"str(any a)", ToText},
    {"add(str a, str b)", AddText},
};

}  // namespace

std::span<const OperatorRow> TextRows() { return kRows; }

}  // namespace ember::torchscript
