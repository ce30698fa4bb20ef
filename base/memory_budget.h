// A limit on how much memory an operation may allocate. Code charges the budget
// before it allocates and discharges it when the memory is free again, so that
// one limit covers allocations in many places:
//
//   EMBER_RETURN_IF_ERROR(budget.Charge(bytes));   // before it is allocated
//   ...
//   budget.Discharge(bytes);                       // when it is free again
#ifndef EMBER_BASE_MEMORY_BUDGET_H_
#define EMBER_BASE_MEMORY_BUDGET_H_

#include <cstdint>

#include "base/status.h"

namespace ember {

// A limit that operations charge. Thread-safe.
class MemoryBudget {
 public:
  virtual ~MemoryBudget() = default;
  // Counts bytes. Returns ResourceExhausted, with one line that names the
  // limit, if they exceed the limit.
  virtual Status Charge(int64_t bytes) = 0;
  virtual void Discharge(int64_t bytes) = 0;
};

}  // namespace ember

#endif  // EMBER_BASE_MEMORY_BUDGET_H_
