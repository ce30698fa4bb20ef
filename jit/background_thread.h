// Threads that compile beside others which should not notice.
//
//   EnterBackground();  // first thing in the thread
//
// Linux; elsewhere, and in sandboxes that refuse it, threads compete as others
// do (or with a lower priority), and their time may not be known.
#ifndef EMBER_JIT_BACKGROUND_THREAD_H_
#define EMBER_JIT_BACKGROUND_THREAD_H_

#include <cstdint>

#ifdef __linux__
#include <ctime>
#endif

namespace ember::jit {

// The calling thread runs while nobody else wants its core, and leaves it at
// once to who does (SCHED_IDLE). For good: the system lets no program without
// privileges take it back. While others want all cores it gets 0.3% of one, in
// slices of a scheduler's tick.
void EnterBackground();

// Adds to the calling thread's nice value; 19 is the most.
void LowerPriority(int niceness);

// How long a thread has run on some core.
class ThreadClock {
 public:
  static ThreadClock OfThisThread();
  // Only while the thread lives; negative where it is not known. Thread-safe.
  int64_t nanoseconds() const;

 private:
#ifdef __linux__
  clockid_t clock_ = 0;
  bool is_known_ = false;
#endif
};

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKGROUND_THREAD_H_
