#include "base/core_set.h"

#ifdef __linux__
#include <pthread.h>
#endif

namespace ember {

#ifdef __linux__

CoreSet CoreSet::OfThisThread() {
  CoreSet cores;
  // More cores than the set has room for: not known.
  if (sched_getaffinity(0, sizeof(cores.set_), &cores.set_) != 0)
    CPU_ZERO(&cores.set_);
  return cores;
}

CoreSet CoreSet::Of(int core) {
  CoreSet cores;
  if (core >= 0 && core < CPU_SETSIZE)
    CPU_SET(static_cast<size_t>(core), &cores.set_);
  return cores;
}

int CoreSet::count() const { return CPU_COUNT(&set_); }

void CoreSet::Remove(int core) {
  if (core >= 0 && core < CPU_SETSIZE)
    CPU_CLR(static_cast<size_t>(core), &set_);
}

int CurrentCore() { return sched_getcpu(); }

void KeepOn(ThreadHandle thread, const CoreSet& cores) {
  if (cores.count() == 0) return;
  static_cast<void>(
      pthread_setaffinity_np(thread, sizeof(cores.set_), &cores.set_));
}

#else

CoreSet CoreSet::OfThisThread() { return {}; }
CoreSet CoreSet::Of(int) { return {}; }
int CoreSet::count() const { return 0; }
void CoreSet::Remove(int) {}
int CurrentCore() { return -1; }
void KeepOn(ThreadHandle, const CoreSet&) {}

#endif

}  // namespace ember
