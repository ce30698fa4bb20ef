#include "tune/search/task_scheduler.h"

#include <algorithm>
#include <cmath>

namespace ember::tune {
namespace {

// The improvement of the ratio that is assumed before there are trials, and
// the number of trials after which most of it has been found.
constexpr double kAssumedGain = 0.2;
constexpr double kAssumedTrials = 48;
// The recent improvement of a task is its mean over this number of trials.
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
  // Improvements become rarer, so the expected one is half of the recent one.
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
