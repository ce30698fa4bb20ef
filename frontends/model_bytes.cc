#include "frontends/model_bytes.h"

#include <utility>

namespace ember::frontends {

graph::ConstantData KeptBytes(std::span<const uint8_t> bytes,
                              std::shared_ptr<const void> owner) {
  if (owner == nullptr) return graph::ConstantData::Copy(bytes);
  return {.owner = std::move(owner), .bytes = bytes};
}

graph::ConstantData AlignedData(std::span<const uint8_t> bytes,
                                size_t alignment,
                                std::shared_ptr<const void> owner) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignment != 0)
    return graph::ConstantData::Copy(bytes);
  return {.owner = std::move(owner), .bytes = bytes};
}

}  // namespace ember::frontends
