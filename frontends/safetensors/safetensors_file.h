// Reads a safetensors file: a JSON header with the tensors' types, shapes and
// offsets, then their data.
//
//   EMBER_ASSIGN_OR_RETURN(const SafetensorsFile file,
//                          SafetensorsFile::Open(mapped.bytes, mapped.owner));
//   for (const auto& [name, tensor] : file.tensors()) …
//
// Ownership: tensors' bytes stay in the file's bytes; the object keeps the
// owner. Errors are one line. The file is from a stranger: the header's length,
// each offset, and that data does not overlap are checked. Immutable,
// thread-safe. Source: the format's description in the repository safetensors
// of Hugging Face.
#ifndef EMBER_FRONTENDS_SAFETENSORS_SAFETENSORS_FILE_H_
#define EMBER_FRONTENDS_SAFETENSORS_SAFETENSORS_FILE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"

namespace ember::safetensors {

struct StoredTensor {
  // Element type; nullopt if Ember has no such type. `type_name`: the type's
  // name in the file.
  std::optional<DType> type;
  std::string type_name;
  std::vector<int64_t> dims;
  std::span<const uint8_t> bytes;
};

class SafetensorsFile {
 public:
  // Largest header in bytes: far more than models have, as a parsed header is
  // many times as large.
  static constexpr uint64_t kMaxHeader = uint64_t{16} << 20;

  static StatusOr<SafetensorsFile> Open(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner);
  // True if the contents begin as a safetensors file does.
  static bool IsSafetensors(std::string_view contents);

  const std::shared_ptr<const void>& owner() const { return owner_; }
  const std::map<std::string, StoredTensor, std::less<>>& tensors() const {
    return tensors_;
  }

 private:
  std::shared_ptr<const void> owner_;
  std::map<std::string, StoredTensor, std::less<>> tensors_;
};

}  // namespace ember::safetensors

#endif  // EMBER_FRONTENDS_SAFETENSORS_SAFETENSORS_FILE_H_
