// The state of the search for one task: the space of schedules, the trials so
// far and the best schedule.
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

// A candidate that was tried (measured, or refused), with its result.
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

  // True if the candidate was proposed before, or another one whose nest has
  // the same features. Such candidates are taken to have the same time, so only
  // one of them is tried.
  bool WasSeen(const Candidate& candidate) const;
  void MarkSeen(const Candidate& candidate);

  // Adds a trial. It does not change the best schedule, because a single
  // measurement may be too fast by chance; Keep changes it after verification.
  void Add(Tried tried);
  // Makes `point` the best schedule. `ratio` is its verified ratio.
  void Keep(Point point, double ratio);

  size_t trials() const { return tried_.size(); }
  std::span<const Tried> tried() const { return tried_; }
  // Returns the trials that were measured, the fastest first, at most `most`.
  std::vector<const Tried*> Fastest(size_t most) const;
  // The smallest ratio of any single measurement, not verified; at most 1.
  double least_ratio() const { return least_ratio_; }

  // The best schedule that was verified; at first the default schedule, whose
  // ratio is 1.
  const Point& best() const {
    return has_best_ ? best_ : space_->start().point;
  }
  double best_ratio() const { return best_ratio_; }
  bool has_best() const { return has_best_; }

  // The best verified ratio after each trial.
  std::span<const double> curve() const { return curve_; }

 private:
  const Space* space_;
  // Hashes of the steps, and of the features, of candidates that were proposed.
  std::set<uint64_t> seen_;
  std::vector<Tried> tried_;
  Point best_;
  bool has_best_ = false;
  double best_ratio_ = 1;
  double least_ratio_ = 1;
  std::vector<double> curve_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_SEARCH_TASK_STATE_H_
