// Fills, clears and copies large memory in pieces of a megabyte, so that
// another thread can stop it between two pieces.
//
//   if (!ClearMemory(data, bytes, runner.interrupt()))
//     return runner.interrupt()->status();
//
// The interrupt may be null. It is read before each piece. A function returns
// false if the interrupt stopped it; the remaining pieces are then untouched.
// Thread-safe.
#ifndef EMBER_BASE_LARGE_MEMORY_H_
#define EMBER_BASE_LARGE_MEMORY_H_

#include <cstdint>

#include "base/interrupt.h"

namespace ember {

bool FillMemory(void* data, uint8_t value, int64_t bytes,
                const Interrupt* interrupt);
inline bool ClearMemory(void* data, int64_t bytes, const Interrupt* interrupt) {
  return FillMemory(data, 0, bytes, interrupt);
}
// Copies bytes in pieces. `from` and `to` must not overlap. Returns false if
// the interrupt stopped the copy.
bool CopyMemory(void* to, const void* from, int64_t bytes,
                const Interrupt* interrupt);

}  // namespace ember

#endif  // EMBER_BASE_LARGE_MEMORY_H_
