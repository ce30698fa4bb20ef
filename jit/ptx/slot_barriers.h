// The barriers of a ring's slots, between a producer's warp and consumers'
// (jit/gpu/warp_roles.h): each slot is full or empty in turns, and each side
// keeps, as a bit for each slot, which phase it waits for next.
//
//   SlotBarriers slots(builder, function, roles, first, consumers);
//   slots.Make();                   // by one thread, before all meet
//   slots.EnterRole(true);          // producer
//   Value* full = slots.BeginFill(slot);   // copies of boxes name it
//   slots.EnterRole(false);         // consumers
//   slots.AwaitFull(slot);
//   slots.LeaveBefore(slot, lane);  // what was before that may be filled again
//
// Emits code; not thread-safe.
#ifndef EMBER_JIT_PTX_SLOT_BARRIERS_H_
#define EMBER_JIT_PTX_SLOT_BARRIERS_H_

#include <cstdint>
#include <functional>

#include "jit/gpu/warp_roles.h"
#include "jit/llvm/ir.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace ember::jit::ptx {

class SlotBarriers {
 public:
  // first: gives the address of the first barrier, in shared memory.
  // consumers: warps.
  SlotBarriers(Builder& builder, llvm::Function& function,
               const gpu::WarpRoles& roles, std::function<llvm::Value*()> first,
               int64_t consumers)
      : b_(builder),
        function_(function),
        roles_(roles),
        first_(std::move(first)),
        consumers_(consumers) {}

  void Make();
  // Code of the role follows.
  void EnterRole(bool is_producer);

  // Of the producer: waits until the slot (i64) is empty, and says that so many
  // bytes are to come. Gives the barrier that copies to it count on.
  llvm::Value* BeginFill(llvm::Value* slot);
  // Of all threads of consumers: waits until the slot is full.
  void AwaitFull(llvm::Value* slot);
  // Of whole warps: the slot of the turn before, if there was one, is empty as
  // far as they are concerned, and this slot is the next that will be.
  void LeaveBefore(llvm::Value* slot, llvm::Value* lane);
  // Behind the loop: so is that of its last turn.
  void LeaveLast(llvm::Value* lane);

 private:
  llvm::Value* At(int64_t offset, llvm::Value* slot);
  // The parity that the role waits for next, of the slot; and the other one
  // from then on.
  llvm::Value* NextParity(llvm::Value* slot);
  void Leave(llvm::Value* lane);
  llvm::AllocaInst* Variable(const char* name);

  Builder& b_;
  llvm::Function& function_;
  const gpu::WarpRoles& roles_;
  const std::function<llvm::Value*()> first_;
  const int64_t consumers_;
  llvm::AllocaInst* parities_ = nullptr;  // i32
  llvm::AllocaInst* before_ = nullptr;    // i32: slot of the turn before, or -1
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_SLOT_BARRIERS_H_
