// What of a session's memory the current run has written. Memory is used again
// from run to run and by one value after another, and a program may read what
// nothing wrote: it must then find zeros, not what a run before has left.
//
//   written.Clear();                           // a run begins
//   written.Add(data, bytes);
//   if (written.FillGaps(data, bytes)) ...;    // zeros where nothing was written
//   written.Remove(data, bytes);               // memory gets another owner
//
// A few ranges, as neighbours join. Not thread-safe.
#ifndef EMBER_VM_RUNTIME_WRITTEN_RANGES_H_
#define EMBER_VM_RUNTIME_WRITTEN_RANGES_H_

#include <cstdint>
#include <vector>

namespace ember::vm {

class WrittenRanges {
 public:
  void Clear() { ranges_.clear(); }
  void Add(const void* data, int64_t bytes);
  void Remove(const void* data, int64_t bytes);
  // Writes zeros to what was not added, and adds it. Whether there was any.
  bool FillGaps(void* data, int64_t bytes);

 private:
  struct Range {
    uintptr_t begin;
    uintptr_t end;
  };
  // The first range that ends at or behind the address.
  std::vector<Range>::iterator Find(uintptr_t address);

  std::vector<Range> ranges_;  // in order, with gaps between them
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_WRITTEN_RANGES_H_
