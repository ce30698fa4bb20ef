// Checks the metadata of a model: texts by their keys, which the model's maker
// wrote into it and which a module keeps.
//
//   MetadataRules rules;
//   for (const auto& [key, value] : entries)
//     EMBER_RETURN_IF_ERROR(rules.Check(key, value));
//
// Keys must be in ascending order of their bytes, so each key occurs once. Keys
// and values are UTF-8 without zero bytes. Their number and sizes are limited;
// a file with more is refused.
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
// Largest number of bytes of all keys and values together.
inline constexpr size_t kMaxMetadataBytes = size_t{1} << 24;

// True if the text can be a metadata key: it is not empty, not too long, and
// IsMetadataText accepts it.
bool IsMetadataKey(std::string_view key);
// True if the text is UTF-8 without a zero byte.
bool IsMetadataText(std::string_view text);

class MetadataRules {
 public:
  // Checks the next entry of the metadata. `key` must stay valid until the next
  // call, which compares its key with this one.
  Status Check(std::string_view key, std::string_view value);

 private:
  std::string_view before_;
  size_t entries_ = 0;
  size_t bytes_ = 0;
};

}  // namespace ember

#endif  // EMBER_BASE_METADATA_RULES_H_
