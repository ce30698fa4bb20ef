#include "tune/search/task_scheduler.h"

#include <algorithm>
#include <cmath>

namespace ember::tune {
namespace {

// Assumptions for tasks with few trials: a search improves the ratio by
// kAssumedGain in all, and finds most of that in the first kAssumedTrials
// trials.
constexpr double kAssumedGain = 0.2;
constexpr double kAssumedTrials = 48;
// Number of trials over which the recent improvement of a task is averaged.
constexpr size_t kWindow = 32;

}  // namespace

double TaskScheduler::Gain(size_t task, const TaskState& state) const {
  const auto trials = static_cast<double>(state.trials());
  const double assumed = kAssumedGain / kAssumedTrials *
                         std::exp(-trials / kAssumedTrials) *
                         state.best_ratio();
  double recent = 0;
  const std::span<const double> curve = state.curve();
  if (!curve.empty()) {
    const size_t window = std::min(kWindow, curve.size());
    const double before =
        curve.size() > window ? curve[curve.size() - 1 - window] : 1;
    recent = (before - curve.back()) / static_cast<double>(window);
  }
  // Improvements become rarer during a search, so the next ones are expected to
  // be half as large as recent ones.
  return shares_[task] * std::max(assumed, recent / 2);
}

size_t TaskScheduler::Next(std::span<const TaskState> states) const {
  size_t best = states.size();
  double best_gain = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    if (is_exhausted_[i]) continue;
    const double gain = Gain(i, states[i]);
    if (best == states.size() || gain > best_gain) {
      best = i;
      best_gain = gain;
    }
  }
  return best;
}

}  // namespace ember::tune
