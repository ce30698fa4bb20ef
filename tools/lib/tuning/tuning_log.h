// Records the events of a search and shows them: a bar with the best so far on
// a terminal, and a line per better schedule elsewhere.
//
//   TuningLog log(tasks, store.get(), stderr);
//   Tuner tuner(tasks, options, measure, scorer, log);
//   ...
//   log.Finish();
//   EMBER_RETURN_IF_ERROR(log.status());
//
//   [######----]  640 trials  58 s  0.874 of the default  d3_conv 0.71
//
// Not thread-safe.
#ifndef EMBER_TOOLS_LIB_TUNING_TUNING_LOG_H_
#define EMBER_TOOLS_LIB_TUNING_TUNING_LOG_H_

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "tune/records/record_store.h"
#include "tune/search/tuner.h"
#include "tune/task/task.h"

namespace ember::tools {

struct TuningLogOptions {
  std::FILE* file = stderr;
  bool is_terminal = false;
  // The search's limits of trials and seconds, for the progress bar; 0: no
  // limit.
  size_t most_trials = 0;
  double most_seconds = 0;
  // Build id that is stored in records; "model" if times are only predicted.
  std::string build;
  // True: each trial is recorded. False: trials are not, because they are only
  // predictions of the cost model.
  bool records_trials = true;
  // Called each time a better schedule has been recorded; may be empty.
  std::function<void()> on_best;
};

class TuningLog final : public tune::TunerListener {
 public:
  // The tasks and the store must outlive the log.
  TuningLog(const std::vector<tune::Task>& tasks, tune::RecordStore& store,
            TuningLogOptions options);

  void OnStart(size_t task, double seconds) override;
  void OnDeclined(size_t task, const std::string& reason) override;
  void OnTrial(size_t task, const tune::Tried& tried,
               const tune::TrialResult& result, size_t total) override;
  void OnBest(size_t task, const tune::Point& point, double ratio,
              double seconds) override;
  // Removes the progress bar from the terminal at the end of the search.
  void Finish();

  // The first error of writing records.
  const Status& status() const { return status_; }
  // Number of trials that crashed, hung or gave wrong results.
  size_t bad_trials() const { return bad_trials_; }

 private:
  struct Row {
    double seconds = 0, ratio = 1;
  };
  // Stores the schedule as the task's best one, unless the records already have
  // a faster one from this build.
  Status Record(size_t task, const tune::BestRecord& best);
  void Line(const std::string& text);
  void Bar();
  // Returns the share of the search's limits that is used up, from 0 to 1.
  double Share() const;
  // Returns the total time of all tasks with their best schedules, divided by
  // that with default schedules.
  double TotalRatio() const;

  const std::vector<tune::Task>& tasks_;
  tune::RecordStore& store_;
  const TuningLogOptions options_;
  const std::chrono::steady_clock::time_point start_;
  std::vector<Row> rows_;
  std::string last_;  // dispatch and ratio of the last improvement, as text
  size_t trials_ = 0, bad_trials_ = 0;
  bool has_bar_ = false;
  Status status_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_TUNING_LOG_H_
