// How compute code asks for threads without knowing where they come from: the
// HAL's CPU driver (or the host application) implements this; code that runs
// alone uses SerialRunner.
//
//   runner.Run(chunk_count, [&](int64_t chunk, int worker) { ... });
#ifndef EMBER_BASE_PARALLEL_H_
#define EMBER_BASE_PARALLEL_H_

#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/interrupt.h"

namespace ember {

// A reference to a callable, valid during the call it is passed to. No
// allocation.
class ChunkFunction {
 public:
  template <typename Callable>
    requires(!std::is_same_v<std::decay_t<Callable>, ChunkFunction>)
  ChunkFunction(const Callable& callable)
      : object_(&callable),
        call_([](const void* object, int64_t chunk, int worker) {
          (*static_cast<const Callable*>(object))(chunk, worker);
        }) {}
  void operator()(int64_t chunk, int worker) const {
    call_(object_, chunk, worker);
  }

 private:
  const void* object_;
  void (*call_)(const void*, int64_t, int);
};

// What goes on in the background, for those whose threads compute. Thread-safe.
class BackgroundWork {
 public:
  virtual ~BackgroundWork() = default;
  // Its threads stand still when this returns, wherever they are: they may hold
  // locks, of an allocator for example, so nobody keeps them for long. The
  // caller sleeps in it, as they may need its core to get there: for some tens
  // of microseconds, at most a millisecond.
  virtual void StandStill() = 0;
  // Ends one StandStill; they go on after the last.
  virtual void GoOn() = 0;
  // Between the two: they run on the caller's core for that long, while it
  // sleeps. It wakes a tenth of a millisecond after that.
  virtual void RunInstead(int64_t ns) = 0;
  // For those whose threads leave a core free: from now on they run on others
  // than this one, if there are any; negative: on all. Returns at once, and may
  // leave it to a later call: ask before each run.
  virtual void KeepOff(int core) = 0;
};

class ParallelRunner {
 public:
  virtual ~ParallelRunner() = default;
  // Threads that may call the function at once; workers are numbered below
  // this. At least 1.
  virtual int worker_count() const = 0;
  // Calls function(chunk, worker) once for each chunk in [0, chunk_count), on
  // any workers, in any order; returns when all are done. The caller's thread
  // takes part. Not reentrant from within a chunk. Concurrent calls from
  // several threads are allowed (they may be serialised).
  virtual void Run(int64_t chunk_count, ChunkFunction function) = 0;
  // What may stop the calls that this runner is for: asked by whoever works for
  // long between chunks or without any. Null: nothing.
  virtual const Interrupt* interrupt() const { return nullptr; }
  // From now on `work` goes on beside the calls, in threads of the lowest
  // priority. Those get no time where threads take all cores, or get it at the
  // wrong moment: such a runner leaves it `share` (0 to 0.5; 0: it has ended)
  // of one core's time, what changing threads takes included, in pauses of a
  // thread that last for about pause_ns, no shorter than what such a change is
  // worth, and stops it between them.
  // Null: it cannot be stopped. Of several callers, the last one's counts. See
  // BackgroundShare.
  virtual void LeaveToBackground(
      double /*share*/, int64_t /*pause_ns*/,
      const std::shared_ptr<BackgroundWork>& /*work*/) {}
};

// Leaves a share of a runner's time to what runs in the background, while calls
// follow each other.
//
//   const BackgroundShare share(&runner, 0.1, 1'000'000, compiler);
//   runner.Run(...);
class BackgroundShare {
 public:
  // Null: nothing to leave it of.
  BackgroundShare(ParallelRunner* runner, double share, int64_t pause_ns,
                  const std::shared_ptr<BackgroundWork>& work)
      : runner_(runner) {
    if (runner_ != nullptr) runner_->LeaveToBackground(share, pause_ns, work);
  }
  ~BackgroundShare() {
    if (runner_ != nullptr) runner_->LeaveToBackground(0, 0, nullptr);
  }
  BackgroundShare(const BackgroundShare&) = delete;
  BackgroundShare& operator=(const BackgroundShare&) = delete;

 private:
  ParallelRunner* const runner_;
};

class SerialRunner final : public ParallelRunner {
 public:
  explicit SerialRunner(const Interrupt* interrupt = nullptr)
      : interrupt_(interrupt) {}
  int worker_count() const override { return 1; }
  void Run(int64_t chunk_count, ChunkFunction function) override {
    for (int64_t chunk = 0; chunk < chunk_count; ++chunk) function(chunk, 0);
  }
  const Interrupt* interrupt() const override { return interrupt_; }

 private:
  const Interrupt* const interrupt_;
};

// Another runner, for calls that may be stopped: what has not begun then is
// left out.
class InterruptibleRunner final : public ParallelRunner {
 public:
  // Both outlive this.
  InterruptibleRunner(ParallelRunner& runner, const Interrupt& interrupt)
      : runner_(runner), interrupt_(interrupt) {}
  int worker_count() const override { return runner_.worker_count(); }
  void Run(int64_t chunk_count, ChunkFunction function) override {
    runner_.Run(chunk_count, [&](int64_t chunk, int worker) {
      if (!interrupt_.ShouldStop()) function(chunk, worker);
    });
  }
  const Interrupt* interrupt() const override { return &interrupt_; }
  void LeaveToBackground(double share, int64_t pause_ns,
                         const std::shared_ptr<BackgroundWork>& work) override {
    runner_.LeaveToBackground(share, pause_ns, work);
  }

 private:
  ParallelRunner& runner_;
  const Interrupt& interrupt_;
};

}  // namespace ember

#endif  // EMBER_BASE_PARALLEL_H_
