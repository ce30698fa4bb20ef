#include "vm/runtime/memory/written_ranges.h"

#include <algorithm>

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
  if (bytes <= 0) return;
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t end = begin + static_cast<uintptr_t>(bytes);
  auto first = Find(begin);
  if (first != ranges_.end() && first->end == begin) ++first;
  const auto last = std::find_if(first, ranges_.end(), [&](const Range& range) {
    return range.begin >= end;
  });
  if (first == last) return;
  const Range before = {first->begin, begin};
  const Range behind = {end, (last - 1)->end};
  // All ranges in between are erased in one call: there may be millions of
  // them, and each erasure moves the ranges behind it.
  first = ranges_.erase(first, last);
  if (behind.begin < behind.end) first = ranges_.insert(first, behind);
  if (before.begin < before.end) ranges_.insert(first, before);
}

std::vector<std::span<uint8_t>> WrittenRanges::TakeGaps(uint8_t* data,
                                                        int64_t bytes) {
  std::vector<std::span<uint8_t>> gaps;
  if (bytes <= 0) return gaps;
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t end = begin + static_cast<uintptr_t>(bytes);
  auto it = Find(begin);
  if (it != ranges_.end() && it->begin <= begin && it->end >= end) return gaps;
  // All memory from `begin` to this address was written or has been added to
  // the gaps.
  uintptr_t next = begin;
  const auto take = [&](uintptr_t until) {
    if (next < until) gaps.emplace_back(data + (next - begin), until - next);
  };
  for (; it != ranges_.end() && it->begin < end; ++it) {
    take(std::max(it->begin, begin));
    next = std::max(next, it->end);
  }
  take(end);
  Add(data, bytes);
  return gaps;
}

}  // namespace ember::vm
