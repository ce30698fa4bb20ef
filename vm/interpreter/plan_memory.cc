#include "vm/interpreter/plan_memory.h"

#include "base/concat.h"

namespace ember::vm {

PlanMemory::~PlanMemory() {
  if (budget_ != nullptr) budget_->Discharge(charged_);
}

std::string PlanMemory::Place(std::string_view what) const {
  return Concat({"dispatch @", dispatch_.name, ": ", what});
}

Status PlanMemory::Charge(int64_t bytes, std::string_view what) {
  if (budget_ == nullptr) return OkStatus();
  const Status status = budget_->Charge(bytes);
  if (!status.ok()) return status.WithContext(Place(what));
  charged_ += bytes;
  return OkStatus();
}

StatusOr<AlignedMemory> PlanMemory::Allocate(int64_t bytes,
                                             std::string_view what) {
  EMBER_RETURN_IF_ERROR(Charge(bytes, what));
  AlignedMemory memory = AllocateAligned(bytes, allocator_);
  if (memory != nullptr) return memory;
  return ResourceExhaustedError(
             Concat({"expected ", bytes, " bytes of memory, found less"}))
      .WithContext(Place(what));
}

}  // namespace ember::vm
