#include "vm/interpreter/plan_memory.h"

#include "base/concat.h"

namespace ember::vm {

PlanMemory::~PlanMemory() {
  allocated_.clear();
  if (budget_ != nullptr) budget_->Discharge(charged_);
}

Status PlanMemory::ErrorAt(const Status& status, std::string_view what,
                           std::string_view name) const {
  return status.WithContext(
      Concat({"dispatch @", dispatch_.name, ": ", what, name}));
}

Status PlanMemory::Charge(int64_t bytes, std::string_view what,
                          std::string_view name) {
  if (budget_ == nullptr) return OkStatus();
  const Status status = budget_->Charge(bytes);
  if (!status.ok()) return ErrorAt(status, what, name);
  charged_ += bytes;
  return OkStatus();
}

StatusOr<char*> PlanMemory::Allocate(int64_t bytes, std::string_view what,
                                     std::string_view name) {
  EMBER_RETURN_IF_ERROR(Charge(bytes, what, name));
  allocated_.push_back(AllocateAligned(bytes, allocator_));
  if (char* const memory = allocated_.back().get()) return memory;
  return ErrorAt(ResourceExhaustedError(Concat(
                     {"expected ", bytes, " bytes of memory, found less"})),
                 what, name);
}

}  // namespace ember::vm
