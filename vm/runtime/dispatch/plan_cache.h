// A cache of the plans of one group of dispatch sites, by parameters. It has a
// few entries and replaces the least recently used one.
#ifndef EMBER_VM_RUNTIME_DISPATCH_PLAN_CACHE_H_
#define EMBER_VM_RUNTIME_DISPATCH_PLAN_CACHE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/dispatch.h"
#include "vm/interpreter/plan.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/kernels/slot.h"
#include "vm/runtime/kernels/trial.h"

namespace ember::vm {

// A shape class of a site. Sites keep pointers to entries and compare the
// parameters: entries stay where they are, but may be reused for another plan.
struct PlanEntry {
  std::vector<int64_t> parameters;
  // Null while a kernel runs the calls: the plan's copies of packed constants
  // would only take memory, and making the plan would take time.
  // PlanCache::Restore makes it.
  std::unique_ptr<Plan> plan;
  // bytes that each input and output must have
  std::vector<int64_t> required_bytes;
  std::vector<bool> overwrites;  // see PlanFacts::overwrites
  int64_t points = 0;            // points that a call evaluates
  uint64_t last_use = 0;
  int64_t calls = 0;
  int requested_tier = 0;
  // The kernel to use; null: tier 0. It was chosen when the slot's kernels were
  // `seen`.
  const Kernel* kernel = nullptr;
  int kernel_tier = 0;
  // True if the kernel's results may be used: a call of it was checked, or
  // needs no check.
  bool is_checked = true;
  int checks = 0;  // number of inconclusive checks of the kernel
  const KernelSlot::Kernels* seen = nullptr;
  KernelTrial trial;
  // True if no decision depends on further measurements until the slot's
  // kernels change.
  bool is_settled = false;
};

class PlanCache {
 public:
  // Makes an empty cache. The dispatch and the interpreter outlive it.
  PlanCache(const tensor::Dispatch& dispatch, const Interpreter& interpreter,
            Plan::Options options, int capacity)
      : dispatch_(dispatch),
        interpreter_(interpreter),
        options_(std::move(options)),
        capacity_(capacity) {}

  // Finds or makes the plan. No plan is made for more than most_points points,
  // nor if it is not expected to run; the entry then has no plan.
  StatusOr<PlanEntry*> Get(std::span<const int64_t> parameters,
                           int64_t most_points, bool is_run);

  // Makes the entry's plan again. keeps_constants: the plan packs constants in
  // its first run and keeps them; a plan for a single run does not pack them.
  Status Restore(PlanEntry& entry, bool keeps_constants = true);

 private:
  PlanEntry& Vacate();

  const tensor::Dispatch& dispatch_;
  const Interpreter& interpreter_;
  Plan::Options options_;
  const size_t capacity_;
  uint64_t clock_ = 0;
  std::vector<std::unique_ptr<PlanEntry>> entries_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_PLAN_CACHE_H_
