#include "frontends/mxnet/node_context.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/one_line.h"

namespace ember::mxnet {
namespace {

constexpr size_t kMaxItems = 1 << 16;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() &&
         std::string_view(" \t\n").find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  while (!text.empty() &&
         std::string_view(" \t\nL").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  return text;
}

std::optional<double> NumberOf(std::string_view text) {
  const std::string copy(Trimmed(text));
  if (copy.empty() || copy.size() > 64) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> IntegerOf(std::string_view text) {
  const std::optional<double> value = NumberOf(text);
  if (!value || std::abs(*value) > 9e15 || *value != std::floor(*value))
    return std::nullopt;
  return static_cast<int64_t>(*value);
}

// Returns the items of a list in an attribute's text, which is written "(1,
// 2,)", "[1, 2]" or, for one item, "1".
std::vector<std::string_view> ItemsOf(std::string_view text) {
  text = Trimmed(text);
  if (!text.empty() && (text.front() == '(' || text.front() == '[')) {
    text.remove_prefix(1);
    if (!text.empty() && (text.back() == ')' || text.back() == ']'))
      text.remove_suffix(1);
  }
  std::vector<std::string_view> items;
  while (!Trimmed(text).empty() && items.size() < kMaxItems) {
    const size_t comma = std::min(text.find(','), text.size());
    items.push_back(Trimmed(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return items;
}

}  // namespace

bool NodeContext::Has(std::string_view name) const {
  const auto found = node_.attributes.find(name);
  return found != node_.attributes.end() && found->second != "None" &&
         !found->second.empty();
}

std::string NodeContext::Text(std::string_view name,
                              std::string_view otherwise) const {
  return Has(name) ? node_.attributes.find(name)->second
                   : std::string(otherwise);
}

int64_t NodeContext::Integer(std::string_view name, int64_t otherwise) {
  if (!Has(name)) return otherwise;
  const std::string text = Text(name, "");
  if (const auto value = IntegerOf(text)) return *value;
  if (text == "True" || text == "true") return 1;
  if (text == "False" || text == "false") return 0;
  FailInvalid(std::string(name) + ": expected an integer, found '" +
              OnOneLine(text) + "'");
  return otherwise;
}

double NodeContext::Number(std::string_view name, double otherwise) {
  if (!Has(name)) return otherwise;
  const std::string text = Text(name, "");
  if (const auto value = NumberOf(text)) return *value;
  FailInvalid(std::string(name) + ": expected a number, found '" +
              OnOneLine(text) + "'");
  return otherwise;
}

bool NodeContext::Flag(std::string_view name, bool otherwise) {
  if (!Has(name)) return otherwise;
  const std::string text = Text(name, "");
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  FailInvalid(std::string(name) + ": expected True or False, found '" +
              OnOneLine(text) + "'");
  return otherwise;
}

std::vector<std::optional<int64_t>> NodeContext::List(std::string_view name) {
  std::vector<std::optional<int64_t>> values;
  if (!Has(name)) return values;
  const std::string text = Text(name, "");
  for (const std::string_view item : ItemsOf(text)) {
    const auto value = IntegerOf(item);
    if (!value && item != "None") {
      FailInvalid(std::string(name) + ": expected integers, found '" +
                  OnOneLine(text) + "'");
      return {};
    }
    values.push_back(value);
  }
  return values;
}

std::vector<int64_t> NodeContext::Integers(std::string_view name) {
  std::vector<int64_t> values;
  for (const std::optional<int64_t>& item : List(name)) {
    if (!item)
      FailInvalid(std::string(name) + ": expected integers, found None");
    values.push_back(item.value_or(0));
  }
  return values;
}

std::vector<int64_t> NodeContext::Integers(std::string_view name, size_t count,
                                           int64_t otherwise) {
  std::vector<int64_t> values = Integers(name);
  if (values.empty()) values.assign(count, otherwise);
  if (values.size() != count) {
    FailInvalid(std::string(name) + ": expected " + std::to_string(count) +
                " integers, found " + std::to_string(values.size()));
    values.assign(count, otherwise);
  }
  return values;
}

std::vector<double> NodeContext::Numbers(std::string_view name) {
  std::vector<double> values;
  if (!Has(name)) return values;
  const std::string text = Text(name, "");
  for (const std::string_view item : ItemsOf(text)) {
    const auto value = NumberOf(item);
    if (!value) {
      FailInvalid(std::string(name) + ": expected numbers, found '" +
                  OnOneLine(text) + "'");
      return {};
    }
    values.push_back(*value);
  }
  return values;
}

DType NodeContext::Type(std::string_view name, DType otherwise) {
  if (!Has(name)) return otherwise;
  static constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"float32", DType::kF32}, {"float64", DType::kF64},
      {"float16", DType::kF16}, {"bfloat16", DType::kBF16},
      {"uint8", DType::kU8},    {"int8", DType::kI8},
      {"int32", DType::kI32},   {"int64", DType::kI64},
      {"bool", DType::kBool}};
  const std::string text = Text(name, "");
  for (const auto& [word, type] : kTypes)
    if (word == text) return type;
  FailUnsupported(std::string(name) + ": type '" + OnOneLine(text) + "'");
  return otherwise;
}

}  // namespace ember::mxnet
