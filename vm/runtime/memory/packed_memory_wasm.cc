// Implements packed memory for WebAssembly, which has neither mappings nor
// large pages: each constant has memory of its own.
#include <cstdlib>
#include <cstring>

#include "base/rounding.h"
#include "vm/runtime/memory/packed_memory.h"

namespace ember::vm {

std::shared_ptr<void> AllocatePacked(int64_t bytes) {
  constexpr int64_t kAlignment = 64;
  if (static_cast<uint64_t>(bytes) > SIZE_MAX / 2) return nullptr;
  const auto size =
      static_cast<size_t>(RoundUp(bytes + int64_t{bytes == 0}, kAlignment));
  void* const memory = std::aligned_alloc(kAlignment, size);
  if (memory == nullptr) return nullptr;
  std::memset(memory, 0, size);
  return {memory, std::free};
}

}  // namespace ember::vm
