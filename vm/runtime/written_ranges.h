// What of a session's memory the current run has written. Memory is used again
// from run to run and by one value after another, and a program may read what
// nothing wrote: it must then find zeros, not what a run before has left.
//
//   written.Clear();                           // a run begins
//   written.Add(data, bytes);
//   for (auto gap : written.TakeGaps(data, bytes)) ...   // of what is read
//   written.Remove(data, bytes);               // memory gets another owner
//
// A few ranges, as neighbours join. Not thread-safe.
#ifndef EMBER_VM_RUNTIME_WRITTEN_RANGES_H_
#define EMBER_VM_RUNTIME_WRITTEN_RANGES_H_

#include <cstdint>
#include <span>
#include <vector>

namespace ember::vm {

class WrittenRanges {
 public:
  void Clear() { ranges_.clear(); }
  void Add(const void* data, int64_t bytes);
  void Remove(const void* data, int64_t bytes);
  // What of it was not added: the caller writes zeros there. Now it is added.
  std::vector<std::span<uint8_t>> TakeGaps(uint8_t* data, int64_t bytes);

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
