#include "jit/loops/evaluator/late_stores.h"

#include <algorithm>
#include <utility>

#include "base/dtype.h"
#include "jit/loops/walk.h"
#include "tensor/scalar.h"
#include "tensor/update.h"

namespace ember::loops {

void LateStores::BeginTask() {
  begun_.clear();
  on_their_way_.clear();
}

void LateStores::StoreNow(const Store& store, int64_t position,
                          uint64_t value) {
  void* memory = memory_[store.buffer];
  const DType type = nest_.buffers[store.buffer].type;
  if (store.update != tensor::Update::kAssign) {
    const uint64_t old = tensor::LoadElement(memory, position, type);
    value = tensor::EvaluateScalar(tensor::OpcodeOf(store.update), type, type,
                                   {old, value, 0});
  }
  tensor::StoreElement(memory, position, type, value);
}

Status LateStores::EndGroups(int64_t groups) {
  on_their_way_.push_back(std::exchange(begun_, {}));
  const int64_t invocation = races_.agent();
  while (static_cast<int64_t>(on_their_way_.size()) > groups) {
    for (const LateStore& late : on_their_way_.front()) {
      races_.SetAgent(late.invocation);
      if (races_.NotesAwaits(late.store->buffer)) {
        EMBER_RETURN_IF_ERROR(
            races_.Note(late.store->buffer, late.position, true));
      }
      StoreNow(*late.store, late.position, late.value);
    }
    on_their_way_.pop_front();
  }
  races_.SetAgent(invocation);
  return OkStatus();
}

void LateStores::EndSlot(uint32_t ring, int64_t slot) {
  std::erase_if(begun_, [&](const LateStore& late) {
    const bool is_due =
        races_.IsInSlot(late.store->buffer, late.position, ring, slot);
    if (is_due) StoreNow(*late.store, late.position, late.value);
    return is_due;
  });
}

void LateStores::Combine(const Store& store, int64_t position, uint64_t value) {
  const auto known = std::ranges::find_if(combined_, [&](const auto& other) {
    return other.store == &store && other.position == position;
  });
  if (known == combined_.end()) {
    combined_.push_back({&store, position, value, races_.agent()});
    return;
  }
  const DType type = nest_.buffers[store.buffer].type;
  known->value =
      tensor::EvaluateScalar(tensor::OpcodeOf(UpdateOf(store.combining)), type,
                             type, {known->value, value, 0});
  known->invocation = std::min(known->invocation, races_.agent());
}

Status LateStores::StoreCombined() {
  for (const LateStore& result : combined_) {
    races_.SetAgent(result.invocation);
    EMBER_RETURN_IF_ERROR(
        races_.Note(result.store->buffer, result.position, true));
    StoreNow(*result.store, result.position, result.value);
  }
  combined_.clear();
  return OkStatus();
}

}  // namespace ember::loops
