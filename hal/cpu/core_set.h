// The cores that threads may run on, so that two threads of a pool need not
// share one while another is free: a scheduler takes tens of milliseconds to
// notice that, if something of low priority has the other.
//
//   CoreSet others = CoreSet::OfThisThread();
//   others.Remove(CurrentCore());
//   KeepOn(worker, others);
//
// Linux; elsewhere sets are empty and nothing happens. Sets are values; the
// functions are thread-safe.
#ifndef EMBER_HAL_CPU_CORE_SET_H_
#define EMBER_HAL_CPU_CORE_SET_H_

#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace ember::hal {

class CoreSet {
 public:
  // Those that the calling thread may run on; empty where that is not known.
  static CoreSet OfThisThread();

  int count() const;
  // Nothing happens if it is not there, or negative.
  void Remove(int core);

 private:
  friend void KeepOn(std::thread& thread, const CoreSet& cores);

#ifdef __linux__
  cpu_set_t set_ = {};
#endif
};

// Of the calling thread, at this moment; negative: not known. Some nanoseconds.
int CurrentCore();

// The thread leaves its core at once if that is not among them. Where the
// system refuses, or the set is empty, it stays where it may be.
void KeepOn(std::thread& thread, const CoreSet& cores);

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_CORE_SET_H_
