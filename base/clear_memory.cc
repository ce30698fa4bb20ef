#include "base/clear_memory.h"

#include <algorithm>
#include <cstring>

namespace ember {

bool ClearMemory(void* data, int64_t bytes, const Interrupt* interrupt) {
  constexpr int64_t kAtOnce = int64_t{1} << 20;
  auto* const begin = static_cast<unsigned char*>(data);
  for (int64_t done = 0; done < bytes; done += kAtOnce) {
    if (interrupt != nullptr && interrupt->ShouldStop()) return false;
    std::memset(begin + done, 0,
                static_cast<size_t>(std::min(kAtOnce, bytes - done)));
  }
  return true;
}

}  // namespace ember
