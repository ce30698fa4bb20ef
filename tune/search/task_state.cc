#include "tune/search/task_state.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace ember::tune {
namespace {

uint64_t HashOfFeatures(const Candidate& candidate) {
  return HashBytes(candidate.features.data(),
                   candidate.features.size() * sizeof(float));
}

}  // namespace

bool TaskState::WasSeen(const Candidate& candidate) const {
  return seen_.contains(candidate.hash) ||
         seen_.contains(HashOfFeatures(candidate));
}

void TaskState::MarkSeen(const Candidate& candidate) {
  seen_.insert(candidate.hash);
  seen_.insert(HashOfFeatures(candidate));
}

void TaskState::Add(Tried tried) {
  if (tried.outcome == Outcome::kMeasured)
    least_ratio_ = std::min(least_ratio_, tried.ratio);
  tried_.push_back(std::move(tried));
  curve_.push_back(best_ratio_);
}

void TaskState::Keep(Point point, double ratio) {
  best_ = std::move(point);
  best_ratio_ = ratio;
  has_best_ = true;
  if (!curve_.empty()) curve_.back() = ratio;
}

std::vector<const Tried*> TaskState::Fastest(size_t most) const {
  std::vector<const Tried*> fastest;
  for (const Tried& tried : tried_) {
    if (tried.outcome == Outcome::kMeasured) fastest.push_back(&tried);
  }
  std::ranges::stable_sort(fastest, {}, &Tried::ratio);
  if (fastest.size() > most) fastest.resize(most);
  return fastest;
}

}  // namespace ember::tune
