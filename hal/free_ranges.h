// Manages the free ranges of a block of memory. Several drivers use this class.
//
//   FreeRanges free(1 << 20);
//   std::optional<uint64_t> offset = free.Take(1000, 64);
//   free.Give(*offset, 1000);
//
// Take cuts its range from the lower end of the smallest free range that fits.
// Thread-compatible.
#ifndef EMBER_HAL_FREE_RANGES_H_
#define EMBER_HAL_FREE_RANGES_H_

#include <cstdint>
#include <map>
#include <optional>

namespace ember::hal {

class FreeRanges {
 public:
  explicit FreeRanges(uint64_t bytes);

  // Takes a range of `bytes` bytes and returns its offset. Returns nullopt if
  // no free range is large enough. `alignment` is a power of two; bytes > 0.
  std::optional<uint64_t> Take(uint64_t bytes, uint64_t alignment);
  // Makes a range free again. `offset` is a result of Take, and `bytes` is the
  // number that was passed to it.
  void Give(uint64_t offset, uint64_t bytes);

  bool is_all_free() const { return free_ == bytes_; }
  uint64_t free_bytes() const { return free_; }

 private:
  const uint64_t bytes_;
  uint64_t free_;
  std::map<uint64_t, uint64_t>
      // The size of each free range, by its offset. Adjacent free ranges are
      // joined, so no two of them are adjacent.
      size_at_;
};

}  // namespace ember::hal

#endif  // EMBER_HAL_FREE_RANGES_H_
