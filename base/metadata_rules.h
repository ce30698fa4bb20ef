// What the metadata of a model may be: texts by their keys, which a model's
// maker wrote beside it and a module keeps.
//
//   MetadataRules rules;
//   for (const auto& [key, value] : entries)
//     EMBER_RETURN_IF_ERROR(rules.Check(key, value));
//
// Keys ascend by their bytes, so each is there once. Keys and values are UTF-8
// without bytes 0. All of it is limited: a file that says more is refused.
//
// Errors: InvalidArgument, one line with the key. Not thread-safe.
#ifndef EMBER_BASE_METADATA_RULES_H_
#define EMBER_BASE_METADATA_RULES_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember {

inline constexpr size_t kMaxMetadataEntries = 4096;
inline constexpr size_t kMaxMetadataKeyBytes = 1024;
inline constexpr size_t kMaxMetadataValueBytes = size_t{1} << 20;
// Of all keys and values.
inline constexpr size_t kMaxMetadataBytes = size_t{1} << 24;

// Not empty, not too long, text.
bool IsMetadataKey(std::string_view key);
// UTF-8 without a byte 0.
bool IsMetadataText(std::string_view text);

class MetadataRules {
 public:
  // The next entry. The key must stay until the call after.
  Status Check(std::string_view key, std::string_view value);

 private:
  std::string_view before_;
  size_t entries_ = 0;
  size_t bytes_ = 0;
};

}  // namespace ember

#endif  // EMBER_BASE_METADATA_RULES_H_
