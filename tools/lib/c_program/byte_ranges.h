// A set of bytes of a memory, as ranges of offsets.
//
//   ByteRanges written;
//   written.Add(0, 16);
//   written.Gaps(8, 24);   // {{16, 24}}: the bytes that are not in the set
//
// The number of ranges stays small, because neighbouring ranges are merged. A
// value; not thread-safe.
#ifndef EMBER_TOOLS_LIB_C_PROGRAM_BYTE_RANGES_H_
#define EMBER_TOOLS_LIB_C_PROGRAM_BYTE_RANGES_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace ember::tools {

// The bytes from `begin` to `end` - 1.
struct ByteRange {
  int64_t begin = 0, end = 0;

  bool operator==(const ByteRange&) const = default;
};

class ByteRanges {
 public:
  void Add(int64_t begin, int64_t end) {
    if (begin >= end) return;
    auto it = ends_.upper_bound(begin);
    // The range before may overlap this one or end where it begins.
    if (it != ends_.begin() && std::prev(it)->second >= begin) --it;
    while (it != ends_.end() && it->first <= end) {
      begin = std::min(begin, it->first);
      end = std::max(end, it->second);
      it = ends_.erase(it);
    }
    ends_[begin] = end;
  }

  // Returns the parts of the range that are not in the set, in ascending order.
  std::vector<ByteRange> Gaps(int64_t begin, int64_t end) const {
    std::vector<ByteRange> gaps;
    auto it = ends_.upper_bound(begin);
    if (it != ends_.begin()) --it;
    for (; it != ends_.end() && it->first < end; ++it) {
      if (it->second <= begin) continue;
      if (it->first > begin) gaps.push_back({begin, it->first});
      begin = it->second;
    }
    if (begin < end) gaps.push_back({begin, end});
    return gaps;
  }

 private:
  // For the begin of each range, its end. There is a gap between any two.
  std::map<int64_t, int64_t> ends_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_C_PROGRAM_BYTE_RANGES_H_
