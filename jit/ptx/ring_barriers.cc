#include "jit/ptx/ring_barriers.h"

#include <algorithm>

#include "jit/ptx/box_functions.h"

namespace ember::jit::ptx {

using llvm_ir::Builder;

using llvm::Value;
using loops::kSlotBarrierBytes;

void RingBarriers::Make() {
  Value* const first = first_();
  int64_t number = 0;
  const auto make = [&](int64_t arrivals) {
    Value* const barrier = b_.CreateConstInBoundsGEP1_64(
        b_.getInt8Ty(), first,
        static_cast<uint64_t>(number++ * kSlotBarrierBytes));
    EmitMakeCopyBarrier(b_, barrier, arrivals);
  };
  for (const loops::WorkgroupRing& ring : rings_) {
    for (int64_t i = 0; i < ring.slots; ++i) make(1);
    for (int64_t i = 0; i < ring.slots; ++i) make(ring.subgroups);
  }
  EmitPublishCopyBarriers(b_);
}

// Returns a variable that is allocated at the function's entry. It is set to
// `value` at the builder's position, which is at the start of a role's code.
llvm::AllocaInst* RingBarriers::Variable(const char* name, uint32_t value) {
  llvm::AllocaInst* variable = nullptr;
  {
    Builder::InsertPointGuard guard(b_);
    llvm::BasicBlock& entry = function_.getEntryBlock();
    b_.SetInsertPoint(&entry, entry.getFirstInsertionPt());
    variable = b_.CreateAlloca(b_.getInt32Ty(), nullptr, name);
  }
  b_.CreateStore(b_.getInt32(value), variable);
  return variable;
}

// The producer first waits for parity 1. All slots are empty at first, and for
// a barrier without completed phases the wait for parity 1 returns at once.
void RingBarriers::EnterProducer() {
  for (size_t i = 0; i < rings_.size(); ++i)
    producer_parities_.push_back(Variable("parities", UINT32_MAX));
}

void RingBarriers::EnterConsumers() {
  for (size_t i = 0; i < rings_.size(); ++i)
    consumer_parities_.push_back(Variable("parities", 0));
}

int64_t RingBarriers::FirstOf(size_t ring) const {
  int64_t number = 0;
  for (size_t i = 0; i < ring; ++i) number += 2 * rings_[i].slots;
  return number;
}

Value* RingBarriers::Full(size_t ring, Value* slot) {
  return At(FirstOf(ring), slot);
}

Value* RingBarriers::Empty(size_t ring, Value* slot) {
  return At(FirstOf(ring) + rings_[ring].slots, slot);
}

Value* RingBarriers::At(int64_t number, Value* slot) {
  Value* const bytes = b_.CreateAdd(
      b_.CreateMul(slot, b_.getInt64(static_cast<uint64_t>(kSlotBarrierBytes))),
      b_.getInt64(static_cast<uint64_t>(number * kSlotBarrierBytes)));
  return b_.CreateGEP(b_.getInt8Ty(), first_(), bytes);
}

Value* RingBarriers::NextParity(llvm::AllocaInst* variable, Value* slot) {
  Value* const number = b_.CreateTrunc(slot, b_.getInt32Ty());
  Value* const parities = b_.CreateLoad(b_.getInt32Ty(), variable);
  Value* const parity =
      b_.CreateAnd(b_.CreateLShr(parities, number), b_.getInt32(1));
  b_.CreateStore(b_.CreateXor(parities, b_.CreateShl(b_.getInt32(1), number)),
                 variable);
  return parity;
}

void RingBarriers::BeginFill(size_t ring, Value* slot) {
  EmitAwaitPhase(b_, Empty(ring, slot),
                 NextParity(producer_parities_[ring], slot));
  EmitArrive(b_, Full(ring, slot), rings_[ring].fill_bytes);
}

void RingBarriers::AwaitFull(size_t ring, Value* slot) {
  EmitAwaitPhase(b_, Full(ring, slot),
                 NextParity(consumer_parities_[ring], slot));
}

void RingBarriers::Release(size_t ring, Value* slot, Value* lane) {
  auto* const then =
      llvm::BasicBlock::Create(b_.getContext(), "leave", &function_);
  auto* const after =
      llvm::BasicBlock::Create(b_.getContext(), "left", &function_);
  Value* const zero = llvm::ConstantInt::get(lane->getType(), 0);
  b_.CreateCondBr(b_.CreateICmpEQ(lane, zero), then, after);
  b_.SetInsertPoint(then);
  EmitArrive(b_, Empty(ring, slot), 0);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

}  // namespace ember::jit::ptx
