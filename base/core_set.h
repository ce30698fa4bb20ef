// The cores that threads may run on, so that two threads of a pool need not
// share one while another is free: a scheduler takes tens of milliseconds to
// notice that, if something of low priority has the other.
//
//   CoreSet others = CoreSet::OfThisThread();
//   others.Remove(CurrentCore());
//   KeepOn(worker.native_handle(), others);
//
// Linux; elsewhere sets are empty and nothing happens. Sets are values; the
// functions are thread-safe.
#ifndef EMBER_BASE_CORE_SET_H_
#define EMBER_BASE_CORE_SET_H_

#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace ember {

// Of a std::thread, or pthread_self().
using ThreadHandle = std::thread::native_handle_type;

class CoreSet {
 public:
  // Those that the calling thread may run on; empty where that is not known.
  static CoreSet OfThisThread();

  // That core alone; empty if it is negative.
  static CoreSet Of(int core);

  int count() const;
  // Nothing happens if it is not there, or negative.
  void Remove(int core);

 private:
  friend void KeepOn(ThreadHandle thread, const CoreSet& cores);

#ifdef __linux__
  cpu_set_t set_ = {};
#endif
};

// Of the calling thread, at this moment; negative: not known. Some nanoseconds.
int CurrentCore();

// The thread leaves its core at once if that is not among them. Where the
// system refuses, or the set is empty, it stays where it may be.
void KeepOn(ThreadHandle thread, const CoreSet& cores);

}  // namespace ember

#endif  // EMBER_BASE_CORE_SET_H_
