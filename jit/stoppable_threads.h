// Threads of the lowest priority that others stop while they need all cores.
//
//   StoppableThreads background;
//   // In a thread:
//   EnterBackground();
//   {
//     const StoppableThreads::Section section(background);
//     CompileForAHundredMilliseconds();
//   }
//   // In another:
//   background.StandStill();
//   ...
//   background.RunInstead(1'000'000);  // now and then
//   ...
//   background.GoOn();
//
// A priority is not enough: a thread of SCHED_IDLE that waits for a core of
// others gets it for a tick (4 ms at HZ=250) in each second or so, and a call
// that takes 10 ms shows that. The same holds for one that is only about to
// wait when the other wakes: so who stands wakes nobody, and stops in time.
//
// How: a signal whose handler waits. It is SIGURG, as for the preemption of
// Go's goroutines: nobody needs it, it may come for no reason, and debuggers
// pass it on. A handler that was there before gets those that are not ours.
// It comes anywhere, so a section holds nothing that other threads wait for,
// but what cannot be helped: an allocator's or a loader's locks. So none stands
// still for longer than kLongestStand, whatever happens. Nobody stands still in
// a program that takes our handler away.
//
// Linux; elsewhere nobody stands still. Thread-safe.
#ifndef EMBER_JIT_STOPPABLE_THREADS_H_
#define EMBER_JIT_STOPPABLE_THREADS_H_

#ifdef __linux__
#include <signal.h>
#endif

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/core_set.h"
#include "base/parallel.h"

namespace ember::jit {

class StoppableThreads final : public BackgroundWork {
 public:
  static constexpr std::chrono::milliseconds kLongestStand{100};

  // Where a thread is that joins or leaves.
  enum class Moment {
    kHoldsTheLock,    // that callers take, too
    kMayLoseItsCore,  // for long, where others take all
  };
  struct Options {
    std::chrono::milliseconds longest_stand = kLongestStand;
    // Called there, if it is not empty: tests keep threads in such a moment.
    std::function<void(Moment)> at;
  };

  // While it lives, the calling thread can be stopped, if it has entered the
  // background (background_thread.h); others are left alone. Sections do not
  // nest. They end before the StoppableThreads.
  class Section {
   public:
    explicit Section(StoppableThreads& threads);
    ~Section();
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

   private:
    StoppableThreads* const threads_;  // null: it is left alone
  };

  // Within a section, while a lock is held that others wait for.
  class Unstoppable {
   public:
    Unstoppable();
    ~Unstoppable();
    Unstoppable(const Unstoppable&) = delete;
    Unstoppable& operator=(const Unstoppable&) = delete;

   private:
    bool was_stoppable_ = false;
  };

  StoppableThreads();
  explicit StoppableThreads(Options options);
  ~StoppableThreads() override;
  StoppableThreads(const StoppableThreads&) = delete;
  StoppableThreads& operator=(const StoppableThreads&) = delete;

  void StandStill() override;
  void GoOn() override;
  void RunInstead(int64_t ns) override;
  void KeepOff(int core) override;
  // From now on nobody stands still. Before the first section: no handler is
  // set.
  void Release();

  // How many do: one that gets no core does not yet when StandStill returns,
  // though nothing of its own comes before it will.
  int standing() const;
  // That they are kept off; negative: none.
  int left_core() const { return left_core_.load(); }

 private:
  struct Member;

#ifdef __linux__
  static void OnSignal(int signal, siginfo_t* info, void* context);
#endif
  bool MustStand() const;
  // Of the calling thread: until nobody wants it to.
  void Stand(Member& member) const;
  void Join();
  void Leave();
  // With mutex_: until all members do.
  void AwaitStanding();
  // Where it may run while nobody has it run on his core.
  CoreSet CoresOf(const Member& member) const;
  // With mutex_.
  void KeepOnItsCores(Member& member) const;
  void Reach(Moment moment) const {
    if (options_.at) options_.at(moment);
  }
  // With mutex_: those who stand look again after that time.
  void Wake(int64_t ns) const;

  static thread_local Member* current_;  // set in sections

  const Options options_;
  // How many StandStill wait for their GoOn; from when until when (of
  // CLOCK_MONOTONIC) they may run all the same.
  std::atomic<int> stops_{0};
  std::atomic<int64_t> run_begin_{0};
  std::atomic<int64_t> run_end_{0};
  std::atomic<bool> is_released_{false};
  std::atomic<int> left_core_{-1};
  // Guards what follows. Threads of the lowest priority hold it, too, but for
  // some instructions: who waits for them waits until they get a core.
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Member>> members_;
#ifdef __linux__
  void (*handler_)(int, siginfo_t*, void*) = nullptr;
#endif
};

}  // namespace ember::jit

#endif  // EMBER_JIT_STOPPABLE_THREADS_H_
