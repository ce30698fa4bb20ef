#include "vm/runtime/plan_cache.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/concat.h"
#include "vm/runtime/dispatch_cost.h"

namespace ember::vm {

StatusOr<PlanEntry*> PlanCache::Get(std::span<const int64_t> parameters,
                                    MemoryPool& pool, int64_t work_limit) {
  ++clock_;
  for (const std::unique_ptr<PlanEntry>& entry : entries_) {
    if (!std::ranges::equal(entry->parameters, parameters)) continue;
    entry->last_use = clock_;
    return entry.get();
  }
  const DispatchCost cost = CostOf(dispatch_, parameters);
  if (work_limit > 0 && cost.points > work_limit) {
    return ResourceExhaustedError(
        Concat({"dispatch @", dispatch_.name, ": expected at most ", work_limit,
                " points in a stage, found ", cost.points}));
  }
  const Status charged = pool.Charge(cost.temporary_bytes);
  if (!charged.ok())
    return charged.WithContext(
        Concat({"dispatch @", dispatch_.name, ": temporaries"}));
  StatusOr<std::unique_ptr<Plan>> plan =
      Plan::Make(dispatch_, parameters, options_);
  if (!plan.ok()) {
    pool.Discharge(cost.temporary_bytes);
    return plan.status();
  }
  PlanEntry& entry = Vacate(
      pool);  // only now: sites may still hold pointers to what it evicts
  entry.plan = *std::move(plan);
  entry.parameters.assign(parameters.begin(), parameters.end());
  entry.charged_bytes = cost.temporary_bytes;
  entry.last_use = clock_;
  const int count =
      static_cast<int>(dispatch_.input_count() + dispatch_.output_count());
  entry.required_bytes.clear();
  for (int i = 0; i < count; ++i)
    entry.required_bytes.push_back(entry.plan->required_bytes(i));
  return &entry;
}

Status PlanCache::Restore(PlanEntry& entry) const {
  EMBER_ASSIGN_OR_RETURN(entry.plan,
                         Plan::Make(dispatch_, entry.parameters, options_));
  return OkStatus();
}

// A new entry while there is room, otherwise the one that was not used for
// longest.
PlanEntry& PlanCache::Vacate(MemoryPool& pool) {
  PlanEntry* oldest = nullptr;
  for (const std::unique_ptr<PlanEntry>& entry : entries_) {
    if (oldest == nullptr || entry->last_use < oldest->last_use)
      oldest = entry.get();
  }
  if (entries_.size() < capacity_ || oldest == nullptr) {
    return *entries_.emplace_back(std::make_unique<PlanEntry>());
  }
  pool.Discharge(oldest->charged_bytes);
  *oldest = PlanEntry{};
  return *oldest;
}

}  // namespace ember::vm
