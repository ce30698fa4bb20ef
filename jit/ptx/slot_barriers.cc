#include "jit/ptx/slot_barriers.h"

#include <utility>

#include "jit/gpu/phase_plan.h"
#include "jit/ptx/box_functions.h"

namespace ember::jit::ptx {

using gpu::kCopyBarrierBytes;
using llvm::Value;

void SlotBarriers::Make() {
  Value* const first = first_();
  for (int64_t i = 0; i < 2 * roles_.slots; ++i) {
    Value* const barrier = b_.CreateConstInBoundsGEP1_64(
        b_.getInt8Ty(), first, static_cast<uint64_t>(i * kCopyBarrierBytes));
    EmitMakeCopyBarrier(b_, barrier, i < roles_.slots ? 1 : consumers_);
  }
  EmitPublishCopyBarriers(b_);
}

llvm::AllocaInst* SlotBarriers::Variable(const char* name) {
  Builder::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = function_.getEntryBlock();
  b_.SetInsertPoint(&entry, entry.getFirstInsertionPt());
  return b_.CreateAlloca(b_.getInt32Ty(), nullptr, name);
}

// All slots are empty at first: of the barriers that say so, the phase before
// the first counts as over.
void SlotBarriers::EnterRole(bool is_producer) {
  parities_ = Variable("parities");
  b_.CreateStore(b_.getInt32(is_producer ? UINT32_MAX : 0), parities_);
  if (is_producer) return;
  before_ = Variable("before");
  b_.CreateStore(b_.getInt32(UINT32_MAX), before_);
}

Value* SlotBarriers::At(int64_t offset, Value* slot) {
  Value* const bytes = b_.CreateAdd(
      b_.CreateMul(slot, b_.getInt64(static_cast<uint64_t>(kCopyBarrierBytes))),
      b_.getInt64(static_cast<uint64_t>(offset * kCopyBarrierBytes)));
  return b_.CreateGEP(b_.getInt8Ty(), first_(), bytes);
}

Value* SlotBarriers::NextParity(Value* slot) {
  Value* const number = b_.CreateTrunc(slot, b_.getInt32Ty());
  Value* const parities = b_.CreateLoad(b_.getInt32Ty(), parities_);
  Value* const parity =
      b_.CreateAnd(b_.CreateLShr(parities, number), b_.getInt32(1));
  b_.CreateStore(b_.CreateXor(parities, b_.CreateShl(b_.getInt32(1), number)),
                 parities_);
  return parity;
}

Value* SlotBarriers::BeginFill(Value* slot) {
  EmitAwaitPhase(b_, At(roles_.slots, slot), NextParity(slot));
  Value* const full = At(0, slot);
  EmitArrive(b_, full, roles_.fill_bytes);
  return full;
}

void SlotBarriers::AwaitFull(Value* slot) {
  EmitAwaitPhase(b_, At(0, slot), NextParity(slot));
}

void SlotBarriers::LeaveBefore(Value* slot, Value* lane) {
  Leave(lane);
  b_.CreateStore(b_.CreateTrunc(slot, b_.getInt32Ty()), before_);
}

void SlotBarriers::LeaveLast(Value* lane) {
  Leave(lane);
  b_.CreateStore(b_.getInt32(UINT32_MAX), before_);
}

// One lane arrives for its warp, whose products have ended for all of it.
void SlotBarriers::Leave(Value* lane) {
  Value* const before = b_.CreateLoad(b_.getInt32Ty(), before_);
  Value* const arrives = b_.CreateAnd(
      b_.CreateICmpNE(before, b_.getInt32(UINT32_MAX)),
      b_.CreateICmpEQ(lane, llvm::ConstantInt::get(lane->getType(), 0)));
  auto* const then =
      llvm::BasicBlock::Create(b_.getContext(), "leave", &function_);
  auto* const after =
      llvm::BasicBlock::Create(b_.getContext(), "left", &function_);
  b_.CreateCondBr(arrives, then, after);
  b_.SetInsertPoint(then);
  EmitArrive(b_, At(roles_.slots, b_.CreateZExt(before, b_.getInt64Ty())), 0);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

}  // namespace ember::jit::ptx
