// Holds the search's knowledge of a task: its space, its trials, the best
// schedule.
//
//   TaskState state(space);
//   state.Add(candidate, features, result);
//   state.best_ratio();     // 0.83: of the default schedule's time
//
// The space must outlive the state. Not thread-safe.
#ifndef EMBER_TUNE_SEARCH_TASK_STATE_H_
#define EMBER_TUNE_SEARCH_TASK_STATE_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "tune/measure/trial.h"
#include "tune/space/point.h"
#include "tune/space/space.h"

namespace ember::tune {

// A candidate that was tried.
struct Tried {
  Point point;
  Outcome outcome = Outcome::kRefused;
  double ratio = 0;  // only for kMeasured
  std::vector<float> features;
};

class TaskState {
 public:
  explicit TaskState(const Space& space) : space_(&space) {}

  const Space& space() const { return *space_; }

  // True if the candidate was proposed before, or one whose nest has the same
  // features: both take the same time. Each is tried once.
  bool WasSeen(const Candidate& candidate) const;
  void MarkSeen(const Candidate& candidate);

  // Adds a trial. It does not change the best schedule, because one measurement
  // may be too good by chance: see Keep.
  void Add(Tried tried);
  // Makes the point the best one, with a ratio that was verified.
  void Keep(Point point, double ratio);

  size_t trials() const { return tried_.size(); }
  std::span<const Tried> tried() const { return tried_; }
  // The measured trials, the fastest first; at most `most`.
  std::vector<const Tried*> Fastest(size_t most) const;
  // The smallest ratio of a single measurement, at most 1.
  double least_ratio() const { return least_ratio_; }

  // The verified best schedule; the default one with ratio 1 at first.
  const Point& best() const {
    return has_best_ ? best_ : space_->start().point;
  }
  double best_ratio() const { return best_ratio_; }
  bool has_best() const { return has_best_; }

  // The best ratio after each trial.
  std::span<const double> curve() const { return curve_; }

 private:
  const Space* space_;
  std::set<uint64_t> seen_;  // hashes of steps and of features
  std::vector<Tried> tried_;
  Point best_;
  bool has_best_ = false;
  double best_ratio_ = 1;
  double least_ratio_ = 1;
  std::vector<double> curve_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_SEARCH_TASK_STATE_H_
