#include "base/large_memory.h"

#include <algorithm>
#include <cstring>

namespace ember {
namespace {

// Calls piece(offset, bytes) for each megabyte of the memory, in order; the
// last piece may be smaller. Returns false if the interrupt asked to stop
// before a piece.
template <typename Piece>
bool InPieces(int64_t bytes, const Interrupt* interrupt, const Piece& piece) {
  constexpr int64_t kAtOnce = int64_t{1} << 20;
  for (int64_t done = 0; done < bytes; done += kAtOnce) {
    if (interrupt != nullptr && interrupt->ShouldStop()) return false;
    piece(done, static_cast<size_t>(std::min(kAtOnce, bytes - done)));
  }
  return true;
}

}  // namespace

bool FillMemory(void* data, uint8_t value, int64_t bytes,
                const Interrupt* interrupt) {
  auto* const begin = static_cast<uint8_t*>(data);
  return InPieces(bytes, interrupt, [&](int64_t offset, size_t size) {
    std::memset(begin + offset, value, size);
  });
}

bool CopyMemory(void* to, const void* from, int64_t bytes,
                const Interrupt* interrupt) {
  auto* const begin = static_cast<uint8_t*>(to);
  const auto* const source = static_cast<const uint8_t*>(from);
  return InPieces(bytes, interrupt, [&](int64_t offset, size_t size) {
    std::memcpy(begin + offset, source + offset, size);
  });
}

}  // namespace ember
