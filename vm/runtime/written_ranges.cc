#include "vm/runtime/written_ranges.h"

#include <algorithm>
#include <cstring>

namespace ember::vm {

std::vector<WrittenRanges::Range>::iterator WrittenRanges::Find(
    uintptr_t address) {
  return std::lower_bound(
      ranges_.begin(), ranges_.end(), address,
      [](const Range& range, uintptr_t a) { return range.end < a; });
}

void WrittenRanges::Add(const void* data, int64_t bytes) {
  if (bytes <= 0) return;
  Range added = {
      reinterpret_cast<uintptr_t>(data),
      reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(bytes)};
  const auto first = Find(added.begin);
  auto last = first;
  for (; last != ranges_.end() && last->begin <= added.end; ++last) {
    added.begin = std::min(added.begin, last->begin);
    added.end = std::max(added.end, last->end);
  }
  if (first == last) {
    ranges_.insert(first, added);
  } else {
    *first = added;
    ranges_.erase(first + 1, last);
  }
}

void WrittenRanges::Remove(const void* data, int64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t end = begin + static_cast<uintptr_t>(bytes);
  auto it = Find(begin);
  while (it != ranges_.end() && it->begin < end) {
    const Range old = *it;
    it = ranges_.erase(it);
    if (old.end > end) it = ranges_.insert(it, {end, old.end});
    if (old.begin < begin) it = ranges_.insert(it, {old.begin, begin}) + 1;
    if (old.end > end) return;
  }
}

bool WrittenRanges::FillGaps(void* data, int64_t bytes) {
  if (bytes <= 0) return false;
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t end = begin + static_cast<uintptr_t>(bytes);
  auto it = Find(begin);
  if (it != ranges_.end() && it->begin <= begin && it->end >= end) return false;
  uintptr_t next = begin;  // up to here all is written
  const auto fill = [&](uintptr_t until) {
    if (next < until) {
      std::memset(static_cast<char*>(data) + (next - begin), 0, until - next);
    }
  };
  for (; it != ranges_.end() && it->begin < end; ++it) {
    fill(std::max(it->begin, begin));
    next = std::max(next, it->end);
  }
  if (next < end) fill(end);
  Add(data, bytes);
  return true;
}

}  // namespace ember::vm
