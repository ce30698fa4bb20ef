// Sets memory to zero where it may be much, so that whoever waits for it can
// stop it.
//
//   if (!ClearMemory(data, bytes, runner.interrupt()))
//     return runner.interrupt()->status();
//
// In pieces of a megabyte, before each of which the interrupt is asked.
#ifndef EMBER_BASE_CLEAR_MEMORY_H_
#define EMBER_BASE_CLEAR_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/interrupt.h"

namespace ember {

// False: the interrupt said stop, and some of it is not cleared. interrupt may
// be null.
inline bool ClearMemory(void* data, int64_t bytes, const Interrupt* interrupt) {
  constexpr int64_t kAtOnce = int64_t{1} << 20;
  auto* const begin = static_cast<unsigned char*>(data);
  for (int64_t done = 0; done < bytes; done += kAtOnce) {
    if (interrupt != nullptr && interrupt->ShouldStop()) return false;
    std::memset(begin + done, 0,
                static_cast<size_t>(std::min(kAtOnce, bytes - done)));
  }
  return true;
}

}  // namespace ember

#endif  // EMBER_BASE_CLEAR_MEMORY_H_
