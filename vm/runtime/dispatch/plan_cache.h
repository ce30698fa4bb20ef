// A cache of the plans of one group of dispatch sites, by parameters. The cache
// has few entries; if it is full, a new plan replaces the least recently used
// one.
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

// The plan and the state of one shape class. Sites keep pointers to entries and
// compare the parameters: an entry's address never changes, but the entry may
// be reused for other parameters.
struct PlanEntry {
  std::vector<int64_t> parameters;
  // The plan. It is null while a kernel runs the calls, because making the plan
  // takes time and its packed copies of constants take memory.
  // PlanCache::Restore makes it when it is needed.
  std::unique_ptr<Plan> plan;
  // number of bytes that each input and output must have
  std::vector<int64_t> required_bytes;
  // for each input and output: true if a run stores to every element
  // (PlanFacts)
  std::vector<bool> overwrites;
  int64_t points = 0;  // number of points that a call with these
                       // parameters evaluates
  uint64_t last_use = 0;
  int64_t calls = 0;
  int requested_tier = 0;
  // The kernel that runs the calls; null: tier 0. `seen` is the list of the
  // slot's kernels from which it was chosen.
  const Kernel* kernel = nullptr;
  int kernel_tier = 0;
  // True if the kernel's results may be used: either a call of the kernel was
  // checked, or it needs no check.
  bool is_checked = true;
  int checks = 0;  // number of checks of the kernel that were inconclusive
  const KernelSlot::Kernels* seen = nullptr;
  KernelTrial trial;
  // True if the choice between the kernel and tier 0 is final until the slot's
  // kernels change, so that calls need not be timed.
  bool is_settled = false;
};

class PlanCache {
 public:
  // Makes an empty cache for the plans of a dispatch. The dispatch and the
  // interpreter must outlive it.
  PlanCache(const tensor::Dispatch& dispatch, const Interpreter& interpreter,
            Plan::Options options, int capacity)
      : dispatch_(dispatch),
        interpreter_(interpreter),
        options_(std::move(options)),
        capacity_(capacity) {}

  // Finds the entry for the parameters, or makes it. Returns ResourceExhausted
  // if a call would evaluate more than most_points points. If is_run is false,
  // tier 0 is not expected to run the entry, so a new entry gets no plan.
  StatusOr<PlanEntry*> Get(std::span<const int64_t> parameters,
                           int64_t most_points, bool is_run);

  // Makes the plan of an entry that has none. If keeps_constants, the plan
  // packs constants in its first run and keeps them. A plan that runs only once
  // should not pack them.
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
