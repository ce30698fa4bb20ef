#include "frontends/torch_export/extents.h"

#include <optional>
#include <string>
#include <utility>

#include "base/one_line.h"
#include "frontends/torch_export/printed_tree.h"

namespace ember::torch_export {
namespace {

constexpr size_t kMaxText = 4096;
constexpr int kMaxPower = 8;

bool IsNamed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

// Returns the name by which graph::ParseDim knows a function of SymPy or
// PyTorch; nullopt if it does not have the function.
std::optional<std::string_view> FunctionOf(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"Mod", "mod"},          {"PythonMod", "mod"},     {"Max", "max"},
      {"Min", "min"},          {"FloorDiv", "floordiv"}, {"CeilDiv", "ceildiv"},
      {"CleanDiv", "floordiv"}};
  for (const auto& [theirs, ours] : kNames)
    if (theirs == name) return ours;
  return std::nullopt;
}

// Translates an expression to ParseDim's syntax.
StatusOr<std::string> Translated(std::string_view text) {
  const auto unknown = [&](std::string_view part) {
    return UnimplementedError(
        "extent '" + OnOneLine(text) +
        "': expected integers, symbols, + - * // and Mod, Max, Min, FloorDiv, "
        "CleanDiv and CeilDiv, found '" +
        OnOneLine(part) + "'");
  };
  std::string result;
  // The symbol that was read last. ParseDim has no powers, so s0**2 is written
  // as a product that repeats it.
  std::string name;
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (IsNamed(text[i])) {
      size_t end = i;
      while (end < text.size() && IsNamed(text[end])) ++end;
      name = text.substr(i, end - i);
      i = end;
      const bool is_call = i < text.size() && text[i] == '(';
      if (is_call) {
        const std::optional<std::string_view> function = FunctionOf(name);
        if (!function) return unknown(name);
        result += *function;
      } else {
        result += name;
      }
    } else if (rest.starts_with("**")) {
      const int power = rest.size() > 2 ? rest[2] - '0' : 0;
      const bool is_more = rest.size() > 3 && IsNamed(rest[3]);
      const bool is_of_name = !name.empty() && result.ends_with(name);
      if (!is_of_name || power < 1 || power > kMaxPower || is_more)
        return unknown(rest.substr(0, 4));
      for (int k = 1; k < power; ++k) result += "*" + name;
      i += 3;
    } else if (rest.starts_with("//")) {
      result += '/';
      i += 2;
    } else if (std::string_view("+-*(), ").find(text[i]) !=
               std::string_view::npos) {
      result += text[i++];
    } else {
      return unknown(rest.substr(0, 1));
    }
  }
  return result;
}

}  // namespace

StatusOr<graph::Dim> ParseExtent(std::string_view text) {
  if (text.size() > kMaxText) {
    return UnimplementedError("an extent: expected at most " +
                              std::to_string(kMaxText) + " characters, found " +
                              std::to_string(text.size()));
  }
  StatusOr<graph::Dim> dim = graph::Dim(0);
  if (IsPrintedTree(text)) {
    dim = ParsePrintedTree(text);
    if (!dim.ok()) return dim;
  } else {
    EMBER_ASSIGN_OR_RETURN(const std::string translated, Translated(text));
    dim = graph::ParseDim(translated);
    if (!dim.ok())
      return dim.status().WithContext("extent '" + OnOneLine(text) + "'");
  }
  if (!dim->is_valid())
    return InvalidArgumentError("extent '" + OnOneLine(text) +
                                "': expected one of 64 bits");
  return dim;
}

}  // namespace ember::torch_export
