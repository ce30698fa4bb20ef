#include "hal/free_ranges.h"

#include <iterator>

namespace ember::hal {

FreeRanges::FreeRanges(uint64_t bytes) : bytes_(bytes), free_(bytes) {
  if (bytes > 0) size_at_.emplace(0, bytes);
}

std::optional<uint64_t> FreeRanges::Take(uint64_t bytes, uint64_t alignment) {
  auto best = size_at_.end();
  for (auto range = size_at_.begin(); range != size_at_.end(); ++range) {
    const uint64_t skipped = -range->first & (alignment - 1);
    if (range->second < skipped || range->second - skipped < bytes) continue;
    if (best == size_at_.end() || range->second < best->second) best = range;
  }
  if (best == size_at_.end()) return std::nullopt;
  const uint64_t begin = best->first, end = begin + best->second;
  const uint64_t taken = begin + (-begin & (alignment - 1));
  size_at_.erase(best);
  if (begin < taken) size_at_.emplace(begin, taken - begin);
  if (taken + bytes < end)
    size_at_.emplace(taken + bytes, end - (taken + bytes));
  free_ -= bytes;
  return taken;
}

void FreeRanges::Give(uint64_t offset, uint64_t bytes) {
  free_ += bytes;
  auto next = size_at_.lower_bound(offset);
  if (next != size_at_.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = size_at_.erase(next);
  }
  if (next != size_at_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      previous->second += bytes;
      return;
    }
  }
  size_at_.emplace(offset, bytes);
}

}  // namespace ember::hal
