// Emits the barriers of rings' slots between a producer and consumers
// (jit/gpu/warp_roles.h). A slot is alternately full and empty. Each side keeps
// a bit per slot: the parity of the phase that it waits for next. Rings are
// given by number.
//
//   RingBarriers barriers(builder, function, workgroup.rings, first);
//   barriers.Make();                   // by one thread, before a barrier of all
//   barriers.EnterProducer();
//   barriers.BeginFill(ring, slot);    // copies of boxes name barriers.Full(…)
//   barriers.EnterConsumers();
//   barriers.BeforeReader(loop, ring_slot_of);       // its slots are full
//   barriers.AfterReader(loop, ring_slot_of, lane);  // they may be filled again
//
// Emits code; not thread-safe.
#ifndef EMBER_JIT_PTX_RING_BARRIERS_H_
#define EMBER_JIT_PTX_RING_BARRIERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "jit/llvm/emit/ir.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace ember::jit::ptx {

class RingBarriers {
 public:
  // first: returns the address of the first barrier, in shared memory. Barriers
  // are in the order of rings: for each ring first those that signal full
  // slots, then those that signal empty slots.
  RingBarriers(llvm_ir::Builder& builder, llvm::Function& function,
               const std::vector<loops::WorkgroupRing>& rings,
               std::function<llvm::Value*()> first)
      : b_(builder),
        function_(function),
        rings_(rings),
        first_(std::move(first)) {}

  void Make();
  // EnterProducer and EnterConsumers are called before the code of each role.
  // Both are called if a consumer's thread is also the producer.
  void EnterProducer();
  void EnterConsumers();

  // Emits the producer's wait until the slot (i64) is empty, and announces the
  // number of bytes of the fill.
  void BeginFill(size_t ring, llvm::Value* slot);
  // Returns the barrier that counts the bytes of copies to the slot (i64).
  llvm::Value* Full(size_t ring, llvm::Value* slot);

  // Returns the index of a slot, an i64, at the current place of the code.
  using RingSlotOf = std::function<llvm::Value*(loops::NodeId index)>;
  // Emits the wait before a subgroup loop that reads slots: all threads of the
  // warps that run the loop wait until the slots that it awaits are full.
  // Returns true if the products of one of these rings stay in flight.
  bool BeforeReader(const loops::Statement& reader,
                    const RingSlotOf& ring_slot_of);
  // Must be called where the products of the loop have ended. Emits the warp's
  // signals that the slots that the loop releases are empty.
  void AfterReader(const loops::Statement& reader,
                   const RingSlotOf& ring_slot_of, llvm::Value* lane);
  // LeaveIteration must be called at the end of an iteration whose products
  // stay in flight. By then the products of the previous iteration have ended,
  // so the code signals that the slots that they read are empty. LeaveLoop,
  // called after the loop, does the same for the last iteration.
  void LeaveIteration(llvm::Value* lane);
  void LeaveLoop(llvm::Value* lane);

 private:
  // Variables for a ring, in the consumers' code.
  struct Variables {
    llvm::AllocaInst* parities = nullptr;  // i32, one bit per slot
    // These two members are set only for a ring whose products (wgmma) stay in
    // flight during the next iteration. `before` is an i32 variable of the
    // emitted code: the slot that the previous iteration read, or -1 if there
    // is no slot that must still be signalled as empty. `slot` (i64) is the
    // slot that the current iteration reads.
    llvm::AllocaInst* before = nullptr;
    llvm::Value* slot = nullptr;
  };

  int64_t FirstOf(size_t ring) const;
  llvm::Value* Empty(size_t ring, llvm::Value* slot);
  llvm::Value* At(int64_t number, llvm::Value* slot);
  // Returns the parity of the phase that the role waits for next at the slot,
  // and flips the slot's bit in `parities`.
  llvm::Value* NextParity(llvm::AllocaInst* parities, llvm::Value* slot);
  void LeaveBefore(size_t ring, llvm::Value* lane);
  llvm::Value* IsFirst(llvm::Value* lane);
  void ArriveIf(llvm::Value* condition, size_t ring, llvm::Value* slot);
  llvm::AllocaInst* Variable(const char* name, uint32_t value);

  llvm_ir::Builder& b_;
  llvm::Function& function_;
  const std::vector<loops::WorkgroupRing>& rings_;
  const std::function<llvm::Value*()> first_;
  // For each ring: the producer's parities, and the consumers' variables.
  std::vector<llvm::AllocaInst*> producer_parities_;
  std::vector<Variables> variables_;
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_RING_BARRIERS_H_
