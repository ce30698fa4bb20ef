// An interface to run compute code on several threads. The HAL's CPU driver or
// the host application implements it, so that compute code does not depend on
// where threads come from; single-threaded code uses SerialRunner.
//
//   runner.Run(chunk_count, [&](int64_t chunk, int worker) { ... });
#ifndef EMBER_BASE_PARALLEL_H_
#define EMBER_BASE_PARALLEL_H_

#include <cstdint>
#include <type_traits>

#include "base/interrupt.h"

namespace ember {

// A reference to a callable object, which neither copies the object nor
// allocates memory. The object must exist during the call to which the
// reference is passed.
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

class ParallelRunner {
 public:
  virtual ~ParallelRunner() = default;
  // Returns the number of threads that may call the function at once, at least
  // 1. Workers are numbered from 0 to this number minus 1.
  virtual int worker_count() const = 0;
  // Calls function(chunk, worker) once for each chunk in [0, chunk_count), on
  // any workers, in any order; returns when all are done. A runner that was
  // interrupted leaves out chunks (InterruptibleRunner). The caller's thread
  // takes part. Not reentrant from within a chunk. Concurrent calls from
  // several threads are allowed (they may be serialised).
  virtual void Run(int64_t chunk_count, ChunkFunction function) = 0;
  // Returns the interrupt that may stop calls of this runner, or null. Code
  // that works for long within one chunk, or that does not use chunks, calls
  // its ShouldStop().
  virtual const Interrupt* interrupt() const { return nullptr; }
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

// Wraps another runner so that its calls can be stopped: after the interrupt,
// chunks that have not begun are skipped.
class InterruptibleRunner final : public ParallelRunner {
 public:
  // Makes a runner that calls `runner`. Both arguments must outlive this
  // object.
  InterruptibleRunner(ParallelRunner& runner, const Interrupt& interrupt)
      : runner_(runner), interrupt_(interrupt) {}
  int worker_count() const override { return runner_.worker_count(); }
  void Run(int64_t chunk_count, ChunkFunction function) override {
    runner_.Run(chunk_count, [&](int64_t chunk, int worker) {
      if (!interrupt_.ShouldStop()) function(chunk, worker);
    });
  }
  const Interrupt* interrupt() const override { return &interrupt_; }

 private:
  ParallelRunner& runner_;
  const Interrupt& interrupt_;
};

}  // namespace ember

#endif  // EMBER_BASE_PARALLEL_H_
