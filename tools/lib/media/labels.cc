#include "tools/lib/media/labels.h"

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "tools/lib/cli/paths.h"
#include "vm/isa/model_metadata.h"

namespace ember::tools {
namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;
constexpr size_t kMaxLabels = size_t{1} << 20;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(Trimmed(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// Returns the line without its first `length` characters, and without a colon
// and spaces after them.
std::string Rest(const std::string& line, size_t length) {
  std::string_view rest = std::string_view(line).substr(length);
  if (rest.starts_with(':')) rest.remove_prefix(1);
  return std::string(Trimmed(rest));
}

// If each line begins with its number, counted from 0 or 1, removes the
// numbers. If they count from 1, label 0 (the background) is missing, which
// Labels::Fits allows for.
void RemoveNumbers(std::vector<std::string>& lines) {
  std::vector<std::string> rests;
  int64_t first = 0;
  for (const std::string& line : lines) {
    int64_t number = 0;
    const auto [end, error] =
        std::from_chars(line.data(), line.data() + line.size(), number);
    const auto length = static_cast<size_t>(end - line.data());
    if (error != std::errc() || length >= line.size() ||
        std::string_view(" :\t,").find(line[length]) == std::string_view::npos)
      return;
    if (rests.empty()) first = number;
    if (number != first + static_cast<int64_t>(rests.size())) return;
    std::string rest = Rest(line, length);
    if (rest.starts_with(',')) rest = Rest(rest, 1);
    rests.push_back(std::move(rest));
  }
  if (first == 0 || first == 1) lines = std::move(rests);
}

// Removes the number of a WordNet synset ("n01440764 ") at the beginning of
// each line, if all lines have one.
void RemoveSynsets(std::vector<std::string>& lines) {
  constexpr size_t kLength = 9;
  for (const std::string& line : lines) {
    if (line.size() <= kLength + 1 || line[0] != 'n' || line[kLength] != ' ' ||
        line.find_first_not_of("0123456789", 1) != kLength)
      return;
  }
  for (std::string& line : lines) line = Rest(line, kLength);
}

std::optional<std::string> TextOf(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array() && !value.empty() && value.back().is_string())
    return value.back().get<std::string>();
  return std::nullopt;
}

// Makes the list of labels from a map of class numbers to names. Missing
// numbers get a name such as "class 7".
std::optional<std::vector<std::string>> ListOf(
    const std::map<int64_t, std::string>& names) {
  if (names.empty() || names.begin()->first < 0 ||
      names.rbegin()->first >= static_cast<int64_t>(kMaxLabels))
    return std::nullopt;
  std::vector<std::string> list;
  for (const auto& [number, name] : names) {
    while (static_cast<int64_t>(list.size()) < number)
      list.push_back("class " + std::to_string(list.size()));
    list.push_back(name);
  }
  return list;
}

std::optional<std::vector<std::string>> FromJson(std::string_view text) {
  const nlohmann::json root = nlohmann::json::parse(text, nullptr, false);
  if (root.is_array()) {
    std::vector<std::string> names;
    for (const nlohmann::json& value : root) {
      const std::optional<std::string> name = TextOf(value);
      if (!name) return std::nullopt;
      names.push_back(*name);
    }
    return names;
  }
  if (!root.is_object()) return std::nullopt;
  std::map<int64_t, std::string> names;
  for (const auto& [key, value] : root.items()) {
    int64_t number = 0;
    const char* const end = key.data() + key.size();
    const auto [stop, error] = std::from_chars(key.data(), end, number);
    const std::optional<std::string> name = TextOf(value);
    if (error != std::errc() || stop != end || !name) return std::nullopt;
    names[number] = *name;
  }
  return ListOf(names);
}

// Parses the text of a Python dictionary from numbers to names: {0: 'person',
// 1: "driver's seat"}.
std::optional<std::vector<std::string>> FromPython(std::string_view text) {
  std::map<int64_t, std::string> names;
  size_t at = text.find('{');
  while (at != std::string_view::npos && at + 1 < text.size()) {
    at = text.find_first_of("0123456789", at + 1);
    if (at == std::string_view::npos) break;
    int64_t number = 0;
    const auto parsed =
        std::from_chars(text.data() + at, text.data() + text.size(), number);
    const size_t quote = text.find_first_of("'\"", at);
    if (parsed.ec != std::errc() || quote == std::string_view::npos)
      return std::nullopt;
    const size_t end = text.find(text[quote], quote + 1);
    if (end == std::string_view::npos) return std::nullopt;
    names[number] = std::string(text.substr(quote + 1, end - quote - 1));
    at = end;
  }
  return ListOf(names);
}

}  // namespace

bool Labels::Fits(int64_t classes) const {
  const auto count = static_cast<int64_t>(names.size());
  return count > 0 && (classes == count || classes == count + 1);
}

std::string Labels::Name(int64_t number, int64_t classes) const {
  const auto count = static_cast<int64_t>(names.size());
  if (count > 0 && classes == count + 1) {
    if (number == 0) return "background";
    --number;
  }
  if (number >= 0 && number < count) return names[static_cast<size_t>(number)];
  return "class " + std::to_string(number);
}

StatusOr<Labels> ParseLabels(std::string_view text, std::string_view name) {
  Labels labels;
  labels.source = std::string(name);
  if (const std::string_view trimmed = Trimmed(text);
      trimmed.starts_with('[') || trimmed.starts_with('{')) {
    std::optional<std::vector<std::string>> names = FromJson(trimmed);
    if (!names) {
      return InvalidArgumentError(
          std::string(name) +
          ": expected a JSON list of texts, or an object from numbers to "
          "texts, found other JSON");
    }
    labels.names = *std::move(names);
  } else {
    labels.names = Lines(text);
    RemoveNumbers(labels.names);
    RemoveSynsets(labels.names);
  }
  if (labels.names.empty() || labels.names.size() > kMaxLabels) {
    return InvalidArgumentError(std::string(name) +
                                ": expected 1 to 1048576 labels, found " +
                                std::to_string(labels.names.size()));
  }
  return labels;
}

StatusOr<Labels> ReadLabels(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const MappedFile file,
                         MappedFile::Open(UserPath(path)));
  if (file.bytes().size() > kMaxBytes) {
    return InvalidArgumentError(
        path + ": expected a file of labels of at most 16 MiB, found " +
        std::to_string(file.bytes().size()) + " bytes");
  }
  return ParseLabels(
      {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()},
      path);
}

Labels LabelsOfModel(std::span<const vm::MetadataEntry> metadata,
                     size_t result_count) {
  std::vector<std::string> keys = {"labels", "coreml.class_labels"};
  for (size_t i = 0; i < result_count; ++i) {
    const std::string output = "tflite.output." + std::to_string(i);
    keys.push_back(output + ".labels");
    keys.push_back(output + ".value_labels");
  }
  for (const std::string& key : keys) {
    const vm::MetadataEntry* entry = vm::FindMetadata(metadata, key);
    if (entry == nullptr) continue;
    StatusOr<Labels> labels = ParseLabels(entry->value, key);
    if (labels.ok()) return *std::move(labels);
  }
  constexpr std::string_view kNames = "onnx.metadata.names";
  if (const vm::MetadataEntry* entry = vm::FindMetadata(metadata, kNames)) {
    if (auto names = FromPython(entry->value))
      return {*std::move(names), std::string(kNames)};
  }
  return {};
}

}  // namespace ember::tools
