#include "vm/runtime/dispatch/plan_cache.h"

#include <algorithm>
#include <utility>

#include "tensor/dispatch_cost.h"
#include "vm/runtime/run_limits.h"

namespace ember::vm {

StatusOr<PlanEntry*> PlanCache::Get(std::span<const int64_t> parameters,
                                    int64_t most_points, bool is_run) {
  ++clock_;
  for (const std::unique_ptr<PlanEntry>& entry : entries_) {
    if (!std::ranges::equal(entry->parameters, parameters)) continue;
    entry->last_use = clock_;
    return entry.get();
  }
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch_, parameters));
  const int64_t points = tensor::PointsOf(dispatch_, header);
  if (points > most_points)
    return TooManyPoints(dispatch_, points, most_points);
  std::unique_ptr<Plan> plan;
  PlanFacts facts;
  if (is_run) {
    EMBER_ASSIGN_OR_RETURN(plan,
                           interpreter_.MakePlan(dispatch_, header, options_));
    facts = plan->facts();
  } else {
    EMBER_ASSIGN_OR_RETURN(facts, interpreter_.FactsOf(dispatch_, header));
  }
  // The least recently used entry is removed only after the new plan was made
  // successfully, because sites may still have pointers to the entry.
  PlanEntry& entry = Vacate();
  entry.plan = std::move(plan);
  entry.parameters.assign(parameters.begin(), parameters.end());
  entry.points = points;
  entry.last_use = clock_;
  entry.required_bytes = std::move(facts.required_bytes);
  entry.overwrites = std::move(facts.overwrites);
  return &entry;
}

Status PlanCache::Restore(PlanEntry& entry, bool keeps_constants) {
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch_, entry.parameters));
  // The options are changed during the call instead of being copied, which
  // takes less code.
  std::vector<bool> constants;
  if (!keeps_constants) constants.swap(options_.constant_inputs);
  StatusOr<std::unique_ptr<Plan>> plan =
      interpreter_.MakePlan(dispatch_, header, options_);
  if (!keeps_constants) constants.swap(options_.constant_inputs);
  EMBER_ASSIGN_OR_RETURN(entry.plan, std::move(plan));
  return OkStatus();
}

// Returns an entry for a new plan: a new entry, or the least recently used one
// if the cache is full.
PlanEntry& PlanCache::Vacate() {
  PlanEntry* oldest = nullptr;
  for (const std::unique_ptr<PlanEntry>& entry : entries_) {
    if (oldest == nullptr || entry->last_use < oldest->last_use)
      oldest = entry.get();
  }
  if (entries_.size() < capacity_ || oldest == nullptr) {
    return *entries_.emplace_back(std::make_unique<PlanEntry>());
  }
  *oldest = PlanEntry{};
  return *oldest;
}

}  // namespace ember::vm
