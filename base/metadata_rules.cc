#include "base/metadata_rules.h"

#include "base/concat.h"
#include "base/one_line.h"
#include "base/utf8.h"

namespace ember {

bool IsMetadataText(std::string_view text) {
  return text.find('\0') == std::string_view::npos && IsUtf8(text);
}

bool IsMetadataKey(std::string_view key) {
  return !key.empty() && key.size() <= kMaxMetadataKeyBytes &&
         IsMetadataText(key);
}

Status MetadataRules::Check(std::string_view key, std::string_view value) {
  if (!IsMetadataKey(key)) {
    return InvalidArgumentError(
        Concat({"metadata: expected keys of 1 to ", kMaxMetadataKeyBytes,
                " bytes in UTF-8 without a byte 0, found another"}));
  }
  const std::string what = Concat({"metadata '", OnOneLine(key), "': "});
  if (entries_ > 0 && key <= before_) {
    return InvalidArgumentError(
        Concat({what, "expected keys in ascending order, each once, found '",
                OnOneLine(before_), "' before it"}));
  }
  if (value.size() > kMaxMetadataValueBytes) {
    return InvalidArgumentError(
        Concat({what, "expected a value of at most ", kMaxMetadataValueBytes,
                " bytes, found ", value.size()}));
  }
  if (!IsMetadataText(value)) {
    return InvalidArgumentError(Concat(
        {what,
         "expected a value in UTF-8 without a byte 0, found other bytes"}));
  }
  before_ = key;
  bytes_ += key.size() + value.size();
  if (++entries_ > kMaxMetadataEntries || bytes_ > kMaxMetadataBytes) {
    return InvalidArgumentError(Concat(
        {what, "expected at most ", kMaxMetadataEntries, " entries of at most ",
         kMaxMetadataBytes, " bytes in all, found more"}));
  }
  return OkStatus();
}

}  // namespace ember
