// Runs trials in this process: compiles a candidate, checks its results against
// tier 0's and measures it beside the default schedule's kernel.
//
//   Bench bench(tasks, MakeLlvmKernels(), {});
//   TrialResult result = bench.Run({.task = 0, .schedule = text});
//
// Each worker process (worker_pool.h) has a bench of its own, because a
// candidate may crash or hang. The bench keeps the data that trials of a task
// share: the operands, tier 0's results and the default kernel. The tasks must
// outlive the bench. Not thread-safe.
#ifndef EMBER_TUNE_MEASURE_BENCH_H_
#define EMBER_TUNE_MEASURE_BENCH_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "tune/measure/interleave.h"
#include "tune/measure/operands.h"
#include "tune/measure/trial.h"
#include "tune/task/task.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::tune {

// A function of this type compiles the kernel of a request with a schedule; an
// empty schedule means the default one. Tests pass functions that return wrong
// or slow kernels.
using MakeKernel = std::function<StatusOr<std::unique_ptr<vm::Kernel>>(
    const vm::KernelRequest& request, const std::string& schedule)>;

struct BenchOptions {
  // Measuring a candidate stops early (kHopeless) if it takes more than this
  // many times as long as the task's best candidate so far.
  double most_ratio = 1.3;
  // Largest number of nanoseconds that the measurement of one trial takes.
  int64_t most_ns = 150'000'000;
  int most_rounds = 12;
  // Number of bytes that are read between two timed calls to evict the operands
  // from a core's own caches, as other dispatches of a model would do. 0 means
  // that nothing is evicted.
  int64_t evict_bytes = 0;
  // `lock` is called before a measurement and `unlock` after it. With them only
  // one worker measures at a time, while others may compile. They may be empty.
  std::function<void()> lock, unlock;
};

class Bench {
 public:
  Bench(const std::vector<Task>& tasks, MakeKernel make_kernel,
        BenchOptions options)
      : tasks_(tasks),
        make_kernel_(std::move(make_kernel)),
        options_(std::move(options)) {}

  // Runs a trial. A trial with an empty schedule measures the default kernel
  // against itself; its result has the time of the task's default.
  TrialResult Run(const Trial& trial);

 private:
  // The data that all trials of a task share.
  struct Prepared {
    size_t task = 0;
    std::unique_ptr<Operands> operands;
    std::unique_ptr<vm::Kernel> reference;
  };
  StatusOr<Prepared*> Prepare(size_t task);
  StatusOr<Timing> Measure(const Prepared& prepared, const vm::Kernel& kernel,
                           const Trial& trial);

  const std::vector<Task>& tasks_;
  const MakeKernel make_kernel_;
  const BenchOptions options_;
  // Shared data of some tasks, the most recently used one first.
  std::list<Prepared> prepared_;
  std::vector<uint8_t> evicted_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MEASURE_BENCH_H_
