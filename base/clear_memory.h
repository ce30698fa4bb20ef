// Sets memory to zero where it may be much, so that whoever waits for it can
// stop it.
//
//   if (!ClearMemory(data, bytes, runner.interrupt()))
//     return runner.interrupt()->status();
//
// In pieces of a megabyte, before each of which the interrupt is asked.
#ifndef EMBER_BASE_CLEAR_MEMORY_H_
#define EMBER_BASE_CLEAR_MEMORY_H_

#include <cstdint>

#include "base/interrupt.h"

namespace ember {

// False: the interrupt said stop, and some of it is not cleared. interrupt may
// be null.
bool ClearMemory(void* data, int64_t bytes, const Interrupt* interrupt);

}  // namespace ember

#endif  // EMBER_BASE_CLEAR_MEMORY_H_
