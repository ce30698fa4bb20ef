#include "llm/tokenizer/character_map.h"

#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "llm/text/utf8.h"

namespace ember::llm {
namespace {

uint32_t LittleEndian32(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) {
    value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  }
  return value;
}

// Decode the bit fields of a unit of Darts-clone's double array.
bool HasLeaf(uint32_t unit) { return (unit >> 8 & 1) == 1; }
uint32_t LeafValue(uint32_t unit) { return unit & 0x7fffffff; }
uint32_t Label(uint32_t unit) { return unit & 0x800000ff; }
uint32_t Offset(uint32_t unit) { return unit >> 10 << ((unit & 0x200) >> 6); }

}  // namespace

StatusOr<CharacterMap> CharacterMap::Parse(std::string_view blob) {
  if (blob.size() < 4) {
    return DataLossError(Concat(
        {"character map: expected at least 4 bytes, found ", blob.size()}));
  }
  const uint32_t size = LittleEndian32(blob, 0);
  if (size % 4 != 0 || size > blob.size() - 4) {
    return DataLossError(
        Concat({"character map: expected a table of at most ", blob.size() - 4,
                " bytes in units of 4, found ", size, " bytes"}));
  }
  CharacterMap map;
  map.units_.reserve(size / 4);
  for (uint32_t at = 0; at < size; at += 4) {
    map.units_.push_back(LittleEndian32(blob, 4 + at));
  }
  map.texts_ = std::string(blob.substr(4 + size));
  map.texts_ += '\0';
  return map;
}

CharacterMap::Match CharacterMap::LongestPrefix(std::string_view text) const {
  Match longest;
  if (units_.empty()) return longest;
  uint32_t node = Offset(units_[0]);
  for (size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<uint8_t>(text[at]);
    if (byte == 0) break;
    node ^= byte;
    if (node >= units_.size() || Label(units_[node]) != byte) break;
    const uint32_t unit = units_[node];
    node ^= Offset(unit);
    if (!HasLeaf(unit)) continue;
    if (node >= units_.size()) break;
    const uint32_t offset = LeafValue(units_[node]);
    if (offset < texts_.size()) longest = {at + 1, offset};
  }
  return longest;
}

StatusOr<std::string> CharacterMap::Normalize(std::string_view text,
                                              size_t most) const {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (result.size() > most) {
      return ResourceExhaustedError(
          Concat({"character map: expected a result of at most ", most,
                  " bytes, found a longer one"}));
    }
    const Match match = LongestPrefix(text.substr(at));
    if (match.size > 0) {
      result += texts_.c_str() + match.offset;
      at += match.size;
      continue;
    }
    const Utf8Char c = Utf8At(text, at);
    AppendUtf8(c.code, &result);
    at += c.size;
  }
  if (!IsUtf8(result)) result = ToValidUtf8(result);
  return result;
}

}  // namespace ember::llm
