// Clears, fills and copies memory that may be much, so that whoever waits for
// it can stop it.
//
//   if (!ClearMemory(data, bytes, runner.interrupt()))
//     return runner.interrupt()->status();
//
// In pieces of a megabyte, before each of which the interrupt is asked. False:
// it said stop, and some is not done. interrupt may be null.
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
// Memory that does not overlap.
bool CopyMemory(void* to, const void* from, int64_t bytes,
                const Interrupt* interrupt);

}  // namespace ember

#endif  // EMBER_BASE_LARGE_MEMORY_H_
