// Records the parts of a session's memory that the current run has written.
// Memory is reused by later runs and by other values of the same run. If a
// program reads memory that it has not written, it must read zeros, not the
// contents of an earlier run.
//
//   written.Clear();                           // a run begins
//   written.Add(data, bytes);
//   for (auto gap : written.TakeGaps(data, bytes)) ...   // of what is read
//   written.Remove(data, bytes);               // memory gets another owner
//
// The number of ranges stays small, because neighbouring ranges are merged. Not
// thread-safe.
#ifndef EMBER_VM_RUNTIME_MEMORY_WRITTEN_RANGES_H_
#define EMBER_VM_RUNTIME_MEMORY_WRITTEN_RANGES_H_

#include <cstdint>
#include <span>
#include <vector>

namespace ember::vm {

class WrittenRanges {
 public:
  void Clear() { ranges_.clear(); }
  void Add(const void* data, int64_t bytes);
  void Remove(const void* data, int64_t bytes);
  // Returns the parts of the range that were not added before, so that the
  // caller can clear them, and adds the whole range.
  std::vector<std::span<uint8_t>> TakeGaps(uint8_t* data, int64_t bytes);

 private:
  struct Range {
    uintptr_t begin;
    uintptr_t end;
  };
  // Finds the first range that ends at or after the address.
  std::vector<Range>::iterator Find(uintptr_t address);

  std::vector<Range> ranges_;  // ranges sorted by address; there is a gap
                               // between any two
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_MEMORY_WRITTEN_RANGES_H_
