#include "jit/worker/background_thread.h"

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#endif

namespace ember::jit {

#ifdef __linux__

void LowerPriority(int niceness) {
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  const int now = getpriority(PRIO_PROCESS, thread);
  // The system call fails only in a sandbox that forbids it; the priority then
  // stays as it is.
  static_cast<void>(
      setpriority(PRIO_PROCESS, thread, std::min(now + niceness, 19)));
}

#else

void LowerPriority(int) {}

#endif

}  // namespace ember::jit
