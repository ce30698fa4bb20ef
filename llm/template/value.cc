#include "llm/template/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/concat.h"
#include "llm/text/unicode.h"
#include "llm/text/utf8.h"

namespace ember::llm {
namespace {

using Kind = Value::Kind;

// Sums up the weights and the largest depth of the values in a container.
struct Sum {
  uint64_t weight = 1;
  uint8_t depth = 0;

  void Add(const Value& value) {
    constexpr uint64_t kMax = uint64_t{1} << 62;
    weight = std::min(kMax, weight + value.Weight());
    depth = std::max(depth, value.depth());
  }
  int64_t Weight() const { return static_cast<int64_t>(weight); }
  uint8_t Depth() const {
    return static_cast<uint8_t>(std::min(depth + 1, 255));
  }
};

// Returns a text that identifies a key of a dict that is no text. Equal keys,
// such as 1 and 1.0, have equal texts.
std::string KeyText(const Value& key) {
  if (key.is_integer()) return "n" + std::to_string(key.integer());
  if (key.kind() == Kind::kFloat) {
    const double number = key.number();
    if (number == std::floor(number) && std::abs(number) < 1e15) {
      return "n" + std::to_string(static_cast<int64_t>(number));
    }
  }
  return "r" + key.Repr();
}

// Returns Python's repr of a text: in single quotes, or in double quotes if it
// contains only single ones.
std::string QuotedText(std::string_view text) {
  const bool uses_double = text.find('\'') != std::string_view::npos &&
                           text.find('"') == std::string_view::npos;
  const char quote = uses_double ? '"' : '\'';
  std::string result(1, quote);
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = Utf8At(text, at);
    at += c.size;
    if (c.code == static_cast<unsigned char>(quote) || c.code == '\\') {
      result += '\\';
      result += static_cast<char>(c.code);
    } else if (c.code == '\n') {
      result += "\\n";
    } else if (c.code == '\r') {
      result += "\\r";
    } else if (c.code == '\t') {
      result += "\\t";
    } else if (c.code < 0x20 || c.code == 0x7f) {
      static constexpr char kHex[] = "0123456789abcdef";
      result += "\\x";
      result += kHex[c.code >> 4];
      result += kHex[c.code & 15];
    } else {
      AppendUtf8(c.code, &result);
    }
  }
  result += quote;
  return result;
}

bool AreItemsEqual(const Value::Items& a, const Value::Items& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), AreEqual);
}

bool AreDictsEqual(const Dict& a, const Dict& b) {
  if (a.size() != b.size()) return false;
  return std::all_of(
      a.entries().begin(), a.entries().end(), [&b](const auto& entry) {
        const Value* const other = b.Find(entry.first);
        return other != nullptr && AreEqual(entry.second, *other);
      });
}

}  // namespace

const Value* Arguments::Find(size_t position, std::string_view name) const {
  if (position < positional.size()) return &positional[position];
  for (const auto& [key, value] : named) {
    if (key == name) return &value;
  }
  return nullptr;
}

Status Arguments::Check(std::string_view function, size_t most,
                        std::initializer_list<std::string_view> names) const {
  if (positional.size() > most) {
    return InvalidArgumentError(
        Concat({function, ": expected at most ", most, " arguments, found ",
                positional.size()}));
  }
  for (const auto& [key, value] : named) {
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      return InvalidArgumentError(
          Concat({function, ": found an unknown argument '", key, "'"}));
    }
  }
  return OkStatus();
}

void Dict::Set(Value key, Value value) {
  const size_t index = entries_.size();
  const auto [found, is_new] = key.is_text()
                                   ? texts_.emplace(key.text(), index)
                                   : others_.emplace(KeyText(key), index);
  if (is_new) {
    entries_.emplace_back(std::move(key), std::move(value));
  } else {
    entries_[found->second].second = std::move(value);
  }
}

const Value* Dict::Find(std::string_view key) const {
  const auto found = texts_.find(key);
  return found == texts_.end() ? nullptr : &entries_[found->second].second;
}

const Value* Dict::Find(const Value& key) const {
  if (key.is_text()) return Find(std::string_view(key.text()));
  const auto found = others_.find(KeyText(key));
  return found == others_.end() ? nullptr : &entries_[found->second].second;
}

Value::Value(std::string text) : kind_(Kind::kText) {
  payload_ = std::make_shared<std::string>(std::move(text));
}

Value Value::Undefined(std::string_view why) {
  return WithPayload(Kind::kUndefined, std::make_shared<std::string>(why));
}

Value Value::List(Items items) {
  Sum sum;
  for (const Value& item : items) sum.Add(item);
  return WithPayload(Kind::kList, std::make_shared<Items>(std::move(items)),
                     sum.Weight(), sum.Depth());
}

Value Value::Tuple(Items items) {
  Value value = List(std::move(items));
  value.kind_ = Kind::kTuple;
  return value;
}

Value Value::OfDict(Dict dict) {
  Sum sum;
  for (const auto& [key, value] : dict.entries()) {
    sum.Add(key);
    sum.Add(value);
  }
  return WithPayload(Kind::kDict, std::make_shared<Dict>(std::move(dict)),
                     sum.Weight(), sum.Depth());
}

Value Value::OfNamespace(std::shared_ptr<Namespace> value) {
  return WithPayload(Kind::kNamespace, std::move(value));
}

Value Value::OfFunction(Function function, uint8_t depth) {
  return WithPayload(Kind::kFunction,
                     std::make_shared<Function>(std::move(function)), 1,
                     static_cast<uint8_t>(std::min(depth + 1, 255)));
}

Value Value::OfLoop(std::shared_ptr<Loop> loop, uint8_t depth) {
  return WithPayload(Kind::kLoop, std::move(loop), 1,
                     static_cast<uint8_t>(std::min(depth + 1, 255)));
}

uint64_t Value::Weight() const {
  switch (kind_) {
    case Kind::kText:
      return 1 + text().size();
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
      return static_cast<uint64_t>(integer_);
    default:
      return 1;
  }
}

bool Value::IsTrue() const {
  switch (kind_) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInteger:
      return integer_ != 0;
    case Kind::kFloat:
      return float_ != 0;
    case Kind::kText:
      return !text().empty();
    case Kind::kList:
    case Kind::kTuple:
      return !items().empty();
    case Kind::kDict:
      return dict().size() > 0;
    case Kind::kNamespace:
    case Kind::kFunction:
    case Kind::kLoop:
      break;
  }
  return true;
}

std::string_view Value::TypeName() const {
  switch (kind_) {
    case Kind::kUndefined:
      return "undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInteger:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kText:
      return "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kNamespace:
      return "namespace";
    case Kind::kFunction:
      return "function";
    case Kind::kLoop:
      return "loop";
  }
  return "value";
}

std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char digits[64];
  const auto written = std::to_chars(std::begin(digits), std::end(digits),
                                     value, std::chars_format::scientific);
  std::string text(digits, written.ptr);
  const size_t e = text.find('e');
  int exponent = 0;
  const bool is_positive = text[e + 1] == '+';
  std::from_chars(text.data() + e + (is_positive ? 2 : 1),
                  text.data() + text.size(), exponent);
  if (exponent >= -4 && exponent < 16) {
    const auto fixed = std::to_chars(std::begin(digits), std::end(digits),
                                     value, std::chars_format::fixed);
    text.assign(digits, fixed.ptr);
    if (text.find('.') == std::string::npos) text += ".0";
  }
  return text;
}

std::string Value::Print(bool is_repr) const {
  switch (kind_) {
    case Kind::kUndefined:
      return is_repr ? "Undefined" : "";
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return integer_ != 0 ? "True" : "False";
    case Kind::kInteger:
      return std::to_string(integer_);
    case Kind::kFloat:
      return FloatText(float_);
    case Kind::kText:
      return is_repr ? QuotedText(text()) : text();
    case Kind::kList:
    case Kind::kTuple: {
      const bool is_tuple = kind_ == Kind::kTuple;
      std::string result(1, is_tuple ? '(' : '[');
      for (const Value& item : items()) {
        if (result.size() > 1) result += ", ";
        result += item.Print(true);
      }
      if (is_tuple && items().size() == 1) result += ',';
      result += is_tuple ? ')' : ']';
      return result;
    }
    case Kind::kDict: {
      std::string result = "{";
      for (const auto& [key, value] : dict().entries()) {
        if (result.size() > 1) result += ", ";
        result += key.Print(true) + ": " + value.Print(true);
      }
      return result + "}";
    }
    case Kind::kNamespace:
      return "<Namespace>";
    case Kind::kFunction:
      return "<function>";
    case Kind::kLoop:
      return "<LoopContext>";
  }
  return "";
}

bool AreEqual(const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return a.integer() == b.integer();
  if (a.is_number() && b.is_number()) return a.number() == b.number();
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kText:
      return a.text() == b.text();
    case Kind::kList:
    case Kind::kTuple:
      return AreItemsEqual(a.items(), b.items());
    case Kind::kDict:
      return AreDictsEqual(a.dict(), b.dict());
    case Kind::kNamespace:
      return &a.attributes() == &b.attributes();
    default:
      return false;
  }
}

StatusOr<bool> IsLess(const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return a.integer() < b.integer();
  if (a.is_number() && b.is_number()) return a.number() < b.number();
  // Comparing the bytes of UTF-8 gives the same order as comparing characters.
  if (a.is_text() && b.is_text()) return a.text() < b.text();
  if (a.is_sequence() && a.kind() == b.kind()) {
    const size_t common = std::min(a.items().size(), b.items().size());
    for (size_t i = 0; i < common; ++i) {
      if (AreEqual(a.items()[i], b.items()[i])) continue;
      return IsLess(a.items()[i], b.items()[i]);
    }
    return a.items().size() < b.items().size();
  }
  return InvalidArgumentError(
      Concat({"expected values that have an order, found ", a.TypeName(),
              " and ", b.TypeName()}));
}

}  // namespace ember::llm
