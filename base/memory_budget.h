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

// A limit on memory that several operations charge together. Thread-safe.
class MemoryBudget {
 public:
  virtual ~MemoryBudget() = default;
  // Adds `bytes` to the amount in use. If the sum exceeds the limit, returns
  // ResourceExhausted with one line that names the limit.
  virtual Status Charge(int64_t bytes) = 0;
  virtual void Discharge(int64_t bytes) = 0;
};

}  // namespace ember

#endif  // EMBER_BASE_MEMORY_BUDGET_H_
