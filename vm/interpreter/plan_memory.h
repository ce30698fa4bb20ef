// The memory of one plan of tier 0: allocated here, charged to the budget of
// its session, and all freed when the plan is gone.
//
//   PlanMemory memory(dispatch, options.budget, options.allocator);
//   EMBER_RETURN_IF_ERROR(memory.Charge(estimate, "plan"));
//   EMBER_ASSIGN_OR_RETURN(char* const scratch,
//                          memory.Allocate(bytes, "scratch"));
//
// Not thread-safe. Errors are ResourceExhausted, and name the dispatch and what
// the memory is for, of which the message has `what` and behind it `name`.
#ifndef EMBER_VM_INTERPRETER_PLAN_MEMORY_H_
#define EMBER_VM_INTERPRETER_PLAN_MEMORY_H_

#include <cstdint>
#include <string_view>
#include <vector>

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
  ~PlanMemory();
  PlanMemory(const PlanMemory&) = delete;
  PlanMemory& operator=(const PlanMemory&) = delete;

  // For memory that somebody else allocates.
  Status Charge(int64_t bytes, std::string_view what,
                std::string_view name = "");
  // Aligned to 64 bytes, contents unspecified; as long-lived as this.
  StatusOr<char*> Allocate(int64_t bytes, std::string_view what,
                           std::string_view name = "");

 private:
  Status ErrorAt(const Status& status, std::string_view what,
                 std::string_view name) const;

  const tensor::Dispatch& dispatch_;
  MemoryBudget* const budget_;
  const HostAllocator allocator_;
  int64_t charged_ = 0;
  std::vector<AlignedMemory> allocated_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_PLAN_MEMORY_H_
