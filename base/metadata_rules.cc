#include "base/metadata_rules.h"

#include "base/concat.h"
#include "base/utf8.h"

namespace ember {

bool IsMetadataText(std::string_view text) {
  return text.find('\0') == std::string_view::npos && IsUtf8(text);
}

bool IsMetadataKey(std::string_view key) {
  return !key.empty() && key.size() <= kMaxMetadataKeyBytes &&
         IsMetadataText(key);
}

// All rules of Check share one form of error message, so that the runtime stays
// small.
Status MetadataRules::Check(std::string_view key, std::string_view value) {
  const char* expected = nullptr;
  bytes_ += key.size() + value.size();
  const bool is_key = IsMetadataKey(key);
  if (!is_key) {
    expected = "a key of 1 to 1024 bytes in UTF-8 without a byte 0";
  } else if (entries_ > 0 && key <= before_) {
    expected = "keys in ascending order, each once";
  } else if (value.size() > kMaxMetadataValueBytes || !IsMetadataText(value)) {
    expected = "a value of at most 1048576 bytes in UTF-8 without a byte 0";
  } else if (++entries_ > kMaxMetadataEntries || bytes_ > kMaxMetadataBytes) {
    expected = "at most 4096 entries of 16777216 bytes in all";
  }
  before_ = key;
  if (expected == nullptr) return OkStatus();
  return InvalidArgumentError(
      Concat({"metadata '", is_key ? key : "?", "': expected ", expected,
              ", found another"}));
}

static_assert(kMaxMetadataEntries == 4096 && kMaxMetadataKeyBytes == 1024 &&
                  kMaxMetadataValueBytes == 1048576 &&
                  kMaxMetadataBytes == 16777216,
              "the messages say the limits");

}  // namespace ember
