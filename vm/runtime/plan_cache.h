// The plans of one group of dispatch sites, by parameters: a few, the least
// recently used replaced.
#ifndef EMBER_VM_RUNTIME_PLAN_CACHE_H_
#define EMBER_VM_RUNTIME_PLAN_CACHE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/dispatch.h"
#include "vm/interpreter/plan.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/kernel_slot.h"
#include "vm/runtime/kernel_trial.h"

namespace ember::vm {

// A shape class of a site. Sites keep pointers to entries and compare the
// parameters: entries stay where they are, but may come to hold another plan.
struct PlanEntry {
  std::vector<int64_t> parameters;
  // Null while a kernel does the work: its copies of packed constants would
  // only take memory, and making it time. PlanCache::Restore.
  std::unique_ptr<Plan> plan;
  std::vector<int64_t> required_bytes;  // per input and output
  std::vector<bool> overwrites;         // as Plan::overwrites
  int64_t points = 0;                   // that a call evaluates
  uint64_t last_use = 0;
  int64_t calls = 0;
  int requested_tier = 0;
  // The kernel to use, null for tier 0, chosen when the slot showed `seen`.
  const Kernel* kernel = nullptr;
  int kernel_tier = 0;
  // Its results may be used: a call of it was checked, or none needs to be.
  bool is_checked = true;
  int checks = 0;  // that told little
  const KernelSlot::Kernels* seen = nullptr;
  KernelTrial trial;
  // Nothing depends on further measurements until the slot shows another.
  bool is_settled = false;
};

class PlanCache {
 public:
  // The dispatch and the interpreter outlive this.
  PlanCache(const tensor::Dispatch& dispatch, const Interpreter& interpreter,
            Plan::Options options, int capacity)
      : dispatch_(dispatch),
        interpreter_(interpreter),
        options_(std::move(options)),
        capacity_(capacity) {}

  // Finds or makes the plan. One of more points than most_points is not made,
  // nor one that nobody is expected to run, of which there is the entry alone.
  StatusOr<PlanEntry*> Get(std::span<const int64_t> parameters,
                           int64_t most_points, bool is_run);

  // Makes the entry's plan again. keeps_constants: it packs constants in its
  // first run and keeps them; one for a single run does without.
  Status Restore(PlanEntry& entry, bool keeps_constants = true) const;

 private:
  PlanEntry& Vacate();

  const tensor::Dispatch& dispatch_;
  const Interpreter& interpreter_;
  const Plan::Options options_;
  const size_t capacity_;
  uint64_t clock_ = 0;
  std::vector<std::unique_ptr<PlanEntry>> entries_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_PLAN_CACHE_H_
