// What one plan of tier 0 has allocated, charged to the budget of its session
// until the plan is gone.
//
//   PlanMemory memory(dispatch, options.budget, options.allocator);
//   EMBER_RETURN_IF_ERROR(memory.Charge(estimate, "plan"));
//   EMBER_ASSIGN_OR_RETURN(AlignedMemory scratch,
//                          memory.Allocate(bytes, "scratch"));
//
// Not thread-safe. Errors are ResourceExhausted, and name the dispatch and what
// the memory is for. What Allocate gave is to be freed before this is.
#ifndef EMBER_VM_INTERPRETER_PLAN_MEMORY_H_
#define EMBER_VM_INTERPRETER_PLAN_MEMORY_H_

#include <cstdint>
#include <string>
#include <utility>

#include "base/concat.h"
#include "base/host_allocator.h"
#include "base/memory_budget.h"
#include "base/status.h"
#include "tensor/dispatch.h"
#include "vm/interpreter/aligned_memory.h"

namespace ember::vm {

class PlanMemory {
 public:
  // dispatch and budget outlive this; budget: null: nobody counts.
  PlanMemory(const tensor::Dispatch& dispatch, MemoryBudget* budget,
             HostAllocator allocator)
      : dispatch_(dispatch), budget_(budget), allocator_(allocator) {}
  ~PlanMemory() {
    if (budget_ != nullptr) budget_->Discharge(charged_);
  }
  PlanMemory(const PlanMemory&) = delete;
  PlanMemory& operator=(const PlanMemory&) = delete;

  // For memory that somebody else allocates.
  Status Charge(int64_t bytes, const std::string& what) {
    if (budget_ == nullptr) return OkStatus();
    const Status status = budget_->Charge(bytes);
    if (!status.ok()) return status.WithContext(Place(what));
    charged_ += bytes;
    return OkStatus();
  }

  StatusOr<AlignedMemory> Allocate(int64_t bytes, const std::string& what) {
    EMBER_RETURN_IF_ERROR(Charge(bytes, what));
    AlignedMemory memory = AllocateAligned(bytes, allocator_);
    if (memory != nullptr) return memory;
    return ResourceExhaustedError(
               Concat({"expected ", bytes, " bytes of memory, found less"}))
        .WithContext(Place(what));
  }

 private:
  std::string Place(const std::string& what) const {
    return Concat({"dispatch @", dispatch_.name, ": ", what});
  }

  const tensor::Dispatch& dispatch_;
  MemoryBudget* const budget_;
  const HostAllocator allocator_;
  int64_t charged_ = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_PLAN_MEMORY_H_
