#include "vm/isa/model_metadata.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace ember::vm {
namespace {

bool ComesBefore(const MetadataEntry& entry, std::string_view key) {
  return entry.key < key;
}

}  // namespace

const MetadataEntry* FindMetadata(std::span<const MetadataEntry> entries,
                                  std::string_view key) {
  const auto found =
      std::lower_bound(entries.begin(), entries.end(), key, ComesBefore);
  return found != entries.end() && found->key == key ? &*found : nullptr;
}

void SetMetadata(std::string_view key, std::string_view value,
                 std::vector<MetadataEntry>& entries) {
  using Texts = std::pair<std::string, std::string>;
  auto owner = std::make_shared<const Texts>(key, value);
  MetadataEntry entry{owner->first, owner->second, owner};
  const auto place =
      std::lower_bound(entries.begin(), entries.end(), key, ComesBefore);
  if (place != entries.end() && place->key == key) {
    *place = std::move(entry);
  } else {
    entries.insert(place, std::move(entry));
  }
}

}  // namespace ember::vm
