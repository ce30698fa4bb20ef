// Memory that a plan owns: in whole cache lines.
#ifndef EMBER_VM_INTERPRETER_ALIGNED_MEMORY_H_
#define EMBER_VM_INTERPRETER_ALIGNED_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace ember::vm {

struct FreeDeleter {
  void operator()(char* p) const { std::free(p); }
};
using AlignedMemory = std::unique_ptr<char, FreeDeleter>;

inline int64_t RoundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Null if the system gives none.
inline AlignedMemory AllocateAligned(int64_t bytes) {
  const auto rounded =
      static_cast<size_t>(RoundUp(std::max<int64_t>(bytes, 1), 64));
  return AlignedMemory(static_cast<char*>(std::aligned_alloc(64, rounded)));
}

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_ALIGNED_MEMORY_H_
