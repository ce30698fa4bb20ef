// Functions that measure candidate schedules: by running them in worker
// processes on this machine, or, for a target that this machine cannot run, by
// asking the cost model.
//
//   WorkerMeasure measure(tasks, {.workers = 2});
//   Tuner tuner(tasks, options, measure.function(), scorer, log);
//
// The tasks must outlive the result. Not thread-safe.
#ifndef EMBER_TOOLS_LIB_TUNING_MEASURES_H_
#define EMBER_TOOLS_LIB_TUNING_MEASURES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tune/measure/worker_pool.h"
#include "tune/model/tree_model.h"
#include "tune/search/tuner.h"
#include "tune/space/space.h"
#include "tune/task/task.h"

namespace ember::tools {

struct MeasureOptions {
  int workers = 2;
  // Number of bytes of cache contents that are evicted before each measured
  // call, the size of a core's own caches; 0: caches stay warm.
  int64_t evict_bytes = 0;
  std::function<bool()> should_stop;
};

// Makes the function that a worker process runs: it executes trials, compiled
// by LLVM. The tasks must outlive the result.
tune::WorkerPool::MakeServe MakeBenchServe(const std::vector<tune::Task>& tasks,
                                           int64_t evict_bytes);

class WorkerMeasure {
 public:
  WorkerMeasure(const std::vector<tune::Task>& tasks,
                const MeasureOptions& options);
  tune::Measure function();

 private:
  tune::WorkerPool pool_;
};

// Returns a function that predicts the times of candidates with the cost model.
// `space` must be the options of the space that is searched.
tune::Measure PredictedMeasure(const std::vector<tune::Task>& tasks,
                               const tune::SpaceOptions& space,
                               tune::TreeModel model,
                               std::function<bool()> should_stop);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_MEASURES_H_
