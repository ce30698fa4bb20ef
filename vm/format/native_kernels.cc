#include "vm/format/native_kernels.h"

namespace ember::vm {

NativeParts NativeBytes::parts() const {
  const auto bytes_of = [](const std::string& text) {
    return std::span(reinterpret_cast<const uint8_t*>(text.data()),
                     text.size());
  };
  return {bytes_of(head), bytes_of(code), bytes_of(weights)};
}

bool MayBePackedBefore(const KernelImage& image) {
  for (const KernelBuffer& buffer : image.buffers) {
    if (buffer.scope == KernelScope::kPacked && buffer.type == DType::kBool)
      return false;
  }
  return image.prologue_count > 0;
}

}  // namespace ember::vm
