// The library functions of vm/isa/library_functions.h. Each function checks
// every length and number of its arguments, so that a program cannot make it
// access memory of others.
#ifndef EMBER_VM_RUNTIME_LIBRARY_LIBRARY_H_
#define EMBER_VM_RUNTIME_LIBRARY_LIBRARY_H_

#include <cstdint>
#include <span>

#include "base/interrupt.h"
#include "base/status.h"
#include "vm/isa/library_functions.h"
#include "vm/runtime/memory_pool.h"

namespace ember::vm {

class RunLimits;
class StringSupport;

struct LibraryMemory {
  uint8_t* data = nullptr;
  int64_t length = 0;
  MemoryBlock* block =
      // block of the memory that the function allocates (one reference); the
      // function sets it
      nullptr;
};

// A call of a library function. Its operands are in the row's order, by kind:
// integers (i), memory (b and w), then those that the function sets: written
// integers (I) and allocated memory (B).
struct LibraryCall {
  std::span<const int64_t> integers;
  std::span<const LibraryMemory> memory;
  std::span<int64_t> written_integers;
  std::span<LibraryMemory> allocated;
  MemoryPool& pool;
  // functions on strings; null: there are none
  StringSupport* strings = nullptr;
  // Interrupt of the run; may be null. Functions check it about every
  // millisecond, and string functions before each string. If it stops a
  // function, the function returns its status.
  const Interrupt* interrupt = nullptr;
  // Limit of the work that operands refer to, such as the texts of strings. The
  // caller counts the work of operands themselves and of results. Null: there
  // is no limit.
  RunLimits* limits = nullptr;
};

inline constexpr int kMaxLibraryOperands = 16;

// Calls a library function. Unimplemented for a string function if there are no
// string functions.
Status CallLibrary(LibraryFunction function, const LibraryCall& call);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_LIBRARY_H_
