// Runs trials in this process: compiles a candidate, checks its results against
// tier 0's and measures it beside the default schedule's kernel.
//
//   Bench bench(tasks, MakeLlvmKernels(), {});
//   TrialResult result = bench.Run({.task = 0, .schedule = text});
//
// A worker process has one (worker_pool.h), because a candidate may crash or
// hang. What trials of a task share is kept: the operands, tier 0's results and
// the default kernel. The tasks must outlive the bench. Not thread-safe.
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

// Makes the kernel of a request with a schedule; an empty one means the
// default. Tests make their own.
using MakeKernel = std::function<StatusOr<std::unique_ptr<vm::Kernel>>(
    const vm::KernelRequest& request, const std::string& schedule)>;

struct BenchOptions {
  // A candidate that takes more than this many times as long as the best one so
  // far is hopeless.
  double most_ratio = 1.3;
  // Nanoseconds of the measurement of a trial.
  int64_t most_ns = 150'000'000;
  int most_rounds = 12;
  // Bytes that are read between two calls, so that operands come from outside
  // of a core's own caches; 0: no bytes.
  int64_t evict_bytes = 0;
  // Called around the measurement, so that only one worker measures at a time
  // while others compile. May be empty.
  std::function<void()> lock, unlock;
};

class Bench {
 public:
  Bench(const std::vector<Task>& tasks, MakeKernel make_kernel,
        BenchOptions options)
      : tasks_(tasks),
        make_kernel_(std::move(make_kernel)),
        options_(std::move(options)) {}

  // Runs a trial. Without a schedule it measures the default against itself,
  // which gives the time of the task.
  TrialResult Run(const Trial& trial);

 private:
  // The parts that all trials of a task share.
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
  std::list<Prepared> prepared_;  // the last used one comes first
  std::vector<uint8_t> evicted_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MEASURE_BENCH_H_
