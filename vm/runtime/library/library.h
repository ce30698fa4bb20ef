// The library functions of vm/isa/library_functions.h. Each function checks
// every length and number of its arguments, so that a program cannot make it
// access memory that does not belong to the program.
#ifndef EMBER_VM_RUNTIME_LIBRARY_LIBRARY_H_
#define EMBER_VM_RUNTIME_LIBRARY_LIBRARY_H_

#include <cstdint>
#include <span>

#include "base/interrupt.h"
#include "base/status.h"
#include "vm/isa/library_functions.h"
#include "vm/runtime/image_support.h"
#include "vm/runtime/memory_pool.h"

namespace ember::vm {

class RunLimits;
class StringSupport;

struct LibraryMemory {
  uint8_t* data = nullptr;
  int64_t length = 0;
  MemoryBlock* block =
      // The block of memory that the function has allocated for the program,
      // with one reference. The function sets this field; it is null for other
      // operands.
      nullptr;
};

// A call of a library function. Its operands are in the row's order, by kind:
// integers (i), memory (b and w), then the operands that the function sets:
// written integers (I) and allocated memory (B).
struct LibraryCall {
  std::span<const int64_t> integers;
  std::span<const LibraryMemory> memory;
  std::span<int64_t> written_integers;
  std::span<LibraryMemory> allocated;
  MemoryPool& pool;
  // Support for strings; null if there is none.
  StringSupport* strings = nullptr;
  // Interrupt of the run; may be null. Functions check it about every
  // millisecond. String functions check before each string, through `limits` or
  // the interrupt with which `strings` was started. A function that is stopped
  // returns the interrupt's status.
  const Interrupt* interrupt = nullptr;
  // Limit on the work of reading objects to which operands refer, such as the
  // texts of strings. The caller counts the work for the operands' own bytes
  // and for the results. Null: there is no limit.
  RunLimits* limits = nullptr;
  // Decoder of pictures; null if there is none.
  ImageDecoder images = nullptr;
};

inline constexpr int kMaxLibraryOperands = 16;

// Calls a library function. Returns Unimplemented for a function of a kind
// (strings, images) for which the call has no support.
Status CallLibrary(LibraryFunction function, const LibraryCall& call);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_LIBRARY_H_
