// Divides trials among tasks: the task with the largest expected gain gets the
// next ones.
//
//   TaskScheduler scheduler(shares);
//   const size_t task = scheduler.Next(states);
//
// The expected gain of a task is the task's share of the models' time, times
// the improvement of its ratio that is expected of one trial. That improvement
// is estimated from recent trials; at first an assumption is used, which
// shrinks with each trial. After Ansor's scheduler (Zheng and others, OSDI
// 2020, section 6). A value; not thread-safe.
#ifndef EMBER_TUNE_SEARCH_TASK_SCHEDULER_H_
#define EMBER_TUNE_SEARCH_TASK_SCHEDULER_H_

#include <cstddef>
#include <span>
#include <vector>

#include "tune/search/task_state.h"

namespace ember::tune {

class TaskScheduler {
 public:
  // `shares` holds, for each task, the time that it takes in the models with
  // its default schedule, in any unit.
  explicit TaskScheduler(std::vector<double> shares)
      : shares_(std::move(shares)), is_exhausted_(shares_.size()) {}

  // Returns the number of the task that gets the next trials, or the number of
  // tasks if all are exhausted. `states` holds the state of each task.
  size_t Next(std::span<const TaskState> states) const;
  // Excludes a task from further trials, because its space has no further
  // candidates.
  void MarkExhausted(size_t task) { is_exhausted_[task] = true; }

  // Returns the expected gain of one more trial of a task, in the unit of
  // `shares`.
  double Gain(size_t task, const TaskState& state) const;

 private:
  std::vector<double> shares_;
  std::vector<bool> is_exhausted_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_SEARCH_TASK_SCHEDULER_H_
