// The library functions of vm/isa/library_functions.h. Each checks every length
// and number it is given, so that a program cannot make it touch memory that is
// not its own.
#ifndef EMBER_VM_RUNTIME_LIBRARY_H_
#define EMBER_VM_RUNTIME_LIBRARY_H_

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
      nullptr;  // set by the function for memory it allocates (one reference)
};

// Operands in the row's order, by kind: integers (i), memory (b and w), then
// what the function fills in: written integers (I) and allocated memory (B).
struct LibraryCall {
  std::span<const int64_t> integers;
  std::span<const LibraryMemory> memory;
  std::span<int64_t> written_integers;
  std::span<LibraryMemory> allocated;
  MemoryPool& pool;
  StringSupport* strings = nullptr;  // null: there are no string functions
  // Asked about every millisecond, by string functions before each string; a
  // function that it ends returns its status. Null: nothing ends them.
  const Interrupt* interrupt = nullptr;
  // Of the work that is in what operands stand for, as string functions' do;
  // that of operands themselves and of results is counted by who calls. Null:
  // there is no limit.
  RunLimits* limits = nullptr;
};

inline constexpr int kMaxLibraryOperands = 16;

// Unimplemented for a string function where there are none.
Status CallLibrary(LibraryFunction function, const LibraryCall& call);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_H_
