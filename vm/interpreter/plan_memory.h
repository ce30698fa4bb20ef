// The memory of one plan of tier 0. It is allocated here, charged to the budget
// of its session, and freed with the plan.
//
//   PlanMemory memory(dispatch, options.budget, options.allocator);
//   EMBER_RETURN_IF_ERROR(memory.Charge(estimate, "plan"));
//   EMBER_ASSIGN_OR_RETURN(char* const scratch,
//                          memory.Allocate(bytes, "scratch"));
//
// Not thread-safe. Errors are ResourceExhausted. They name the dispatch and the
// purpose of the memory, which is `what` followed by `name`.
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
  // Makes an object that owns no memory yet. The dispatch and the budget must
  // outlive it. `budget` may be null: memory is then not counted.
  PlanMemory(const tensor::Dispatch& dispatch, MemoryBudget* budget,
             HostAllocator allocator)
      : dispatch_(dispatch), budget_(budget), allocator_(allocator) {}
  ~PlanMemory();
  PlanMemory(const PlanMemory&) = delete;
  PlanMemory& operator=(const PlanMemory&) = delete;

  // Charges the budget with memory that the caller allocates elsewhere.
  Status Charge(int64_t bytes, std::string_view what,
                std::string_view name = "");
  // Allocates memory and charges the budget. The memory is aligned to 64 bytes,
  // has unspecified contents, and lives as long as this object.
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
