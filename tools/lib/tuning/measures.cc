#include "tools/lib/tuning/measures.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "tune/measure/bench.h"
#include "tune/measure/llvm_kernels.h"

namespace ember::tools {

tune::WorkerPool::MakeServe MakeBenchServe(const std::vector<tune::Task>& tasks,
                                           int64_t evict_bytes) {
  return [&tasks, evict_bytes](const tune::WorkerPool::Locks& locks) {
    auto bench = std::make_shared<tune::Bench>(
        tasks, tune::MakeLlvmKernels(),
        tune::BenchOptions{.evict_bytes = evict_bytes,
                           .lock = locks.lock,
                           .unlock = locks.unlock});
    return [bench](const tune::Trial& trial) { return bench->Run(trial); };
  };
}

WorkerMeasure::WorkerMeasure(const std::vector<tune::Task>& tasks,
                             const MeasureOptions& options)
    : pool_({.workers = options.workers, .should_stop = options.should_stop},
            MakeBenchServe(tasks, options.evict_bytes)) {}

tune::Measure WorkerMeasure::function() {
  return [this](std::span<const tune::Trial> trials,
                const std::function<void(size_t, tune::TrialResult)>& done) {
    return pool_.Run(trials, done);
  };
}

tune::Measure PredictedMeasure(const std::vector<tune::Task>& tasks,
                               const tune::SpaceOptions& options,
                               tune::TreeModel model,
                               std::function<bool()> should_stop) {
  auto spaces = std::make_shared<std::map<size_t, tune::Space>>();
  return [&tasks, options, spaces, model = std::move(model),
          should_stop = std::move(should_stop)](
             std::span<const tune::Trial> trials,
             const std::function<void(size_t, tune::TrialResult)>& done)
             -> Status {
    for (size_t i = 0; i < trials.size(); ++i) {
      if (should_stop && should_stop()) return CancelledError("stopped");
      const tune::Trial& trial = trials[i];
      auto space = spaces->find(trial.task);
      if (space == spaces->end()) {
        EMBER_ASSIGN_OR_RETURN(tune::Space made,
                               tune::Space::Make(tasks[trial.task], options));
        space = spaces->emplace(trial.task, std::move(made)).first;
      }
      tune::TrialResult result;
      const auto seconds = [&](const tune::Candidate& candidate) {
        return std::exp(-model.Predict({&candidate.features, 1})[0].score);
      };
      const double start = seconds(space->second.start());
      const auto point = tune::ParsePoint(trial.schedule, "");
      const auto candidate = trial.schedule.empty() ? space->second.start()
                             : point.ok()
                                 ? space->second.Build(*point)
                                 : StatusOr<tune::Candidate>(point.status());
      if (candidate.ok()) {
        result.outcome = tune::Outcome::kMeasured;
        result.seconds = seconds(*candidate);
        result.ratio = result.seconds / start;
      } else {
        result.reason = candidate.status().message();
      }
      done(i, std::move(result));
    }
    return OkStatus();
  };
}

}  // namespace ember::tools
