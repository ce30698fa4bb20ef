#include "frontends/metadata.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/metadata_rules.h"
#include "base/one_line.h"

namespace ember::frontends {
namespace {

// Largest number of bytes of the key "left_out", whose lines list the values
// that were left out.
constexpr size_t kMaxLeftOut = size_t{1} << 16;
// Largest number of bytes of a value that is not UTF-8 text. A longer value is
// binary data for programs, not for readers, and is left out.
constexpr size_t kMaxHexBytes = 4096;
// Number of bytes that each entry counts in addition to its name and value, so
// that very many small entries reach the limit, too.
constexpr size_t kBytesPerEntry = 256;
constexpr std::string_view kTooMuch = "expected less of it in all, found more";

std::string HexOf(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "hex:";
  for (const char c : bytes) {
    text += kDigits[static_cast<uint8_t>(c) >> 4];
    text += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return text;
}

}  // namespace

std::string NumberText(float value) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

MetadataCollector::MetadataCollector(std::string_view format)
    : prefix_(std::string(format) + ".") {}

void MetadataCollector::Add(std::string_view name, std::string_view value) {
  if (value.empty() || !See(name, value)) return;
  if (value.size() > kMaxMetadataValueBytes) {
    LeaveOut(name, "expected at most " +
                       std::to_string(kMaxMetadataValueBytes) +
                       " bytes, found " + std::to_string(value.size()));
    return;
  }
  const bool is_text = IsMetadataText(value);
  if (!is_text && value.size() > kMaxHexBytes) {
    LeaveOut(name, "expected text, or at most " + std::to_string(kMaxHexBytes) +
                       " other bytes, found " + std::to_string(value.size()));
    return;
  }
  const std::string key =
      prefix_ + (IsMetadataText(name) ? std::string(name) : HexOf(name));
  std::string text = is_text ? std::string(value) : HexOf(value);
  const size_t bytes = bytes_ + key.size() + text.size();
  if (!IsMetadataKey(key)) {
    LeaveOut(name.substr(0, 80), "expected a name of at most " +
                                     std::to_string(kMaxMetadataKeyBytes) +
                                     " bytes with the format's, found " +
                                     std::to_string(key.size()));
  } else if (entries_.size() + 1 >= kMaxMetadataEntries ||
             bytes + kMaxLeftOut > kMaxMetadataBytes) {
    LeaveOut(name, kTooMuch);
  } else if (entries_.emplace(key, std::move(text)).second) {
    bytes_ = bytes;
  }
}

void MetadataCollector::AddFile(std::string_view name,
                                std::string_view contents) {
  if (contents.size() > kMaxMetadataValueBytes || IsMetadataText(contents))
    return Add(name, contents);
  if (See(name, contents))
    LeaveOut(name, "expected text in UTF-8, found other bytes");
}

bool MetadataCollector::See(std::string_view name, std::string_view value) {
  if (full()) return false;
  seen_ += name.size() + value.size() + kBytesPerEntry;
  if (full()) LeaveOut(name, kTooMuch);
  return !full();
}

bool MetadataCollector::full() const { return seen_ > 2 * kMaxMetadataBytes; }

void MetadataCollector::AddNumber(std::string_view name, float value) {
  Add(name, NumberText(value));
}

void MetadataCollector::AddInteger(std::string_view name, int64_t value) {
  Add(name, std::to_string(value));
}

void MetadataCollector::LeaveOut(std::string_view name, std::string_view why) {
  std::string shown = OnOneLine(name.substr(0, 200));
  if (!IsMetadataText(shown)) shown = HexOf(name.substr(0, 100));
  const std::string line = shown + ": " + std::string(why) + "\n";
  if (left_out_.size() + line.size() + prefix_.size() + 16 <= kMaxLeftOut)
    left_out_ += line;
}

graph::Metadata MetadataCollector::Take() && {
  if (!left_out_.empty()) entries_[prefix_ + "left_out"] = left_out_;
  return std::move(entries_);
}

}  // namespace ember::frontends
