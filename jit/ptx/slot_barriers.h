// Emits the barriers of rings' slots between a producer and consumers
// (jit/gpu/warp_roles.h). A slot is alternately full and empty. Each side keeps
// a bit per slot: the parity of the phase that it waits for next. Rings are
// given by number.
//
//   SlotBarriers slots(builder, function, roles, first);
//   slots.Make();                   // by one thread, before a barrier of all
//   slots.EnterProducer();
//   slots.BeginFill(ring, slot);    // copies of boxes name slots.Full(…)
//   slots.EnterConsumers();
//   slots.BeforeReader(loop, slot_of);       // its slots are full
//   slots.AfterReader(loop, slot_of, lane);  // they may be filled again
//
// Emits code; not thread-safe.
#ifndef EMBER_JIT_PTX_SLOT_BARRIERS_H_
#define EMBER_JIT_PTX_SLOT_BARRIERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "jit/gpu/warp_roles.h"
#include "jit/llvm/ir.h"
#include "jit/loops/loop_nest.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace ember::jit::ptx {

class SlotBarriers {
 public:
  // first: returns the address of the first barrier, in shared memory. Barriers
  // are in the order of rings: those for slots being full, then those for them
  // being empty.
  SlotBarriers(Builder& builder, llvm::Function& function,
               const gpu::WarpRoles& roles, std::function<llvm::Value*()> first)
      : b_(builder),
        function_(function),
        roles_(roles),
        first_(std::move(first)) {}

  void Make();
  // Called before code of the role; both are called where the producer is a
  // consumer, too.
  void EnterProducer();
  void EnterConsumers();

  // The producer waits until the slot (i64) is empty, and announces the bytes
  // of the fill.
  void BeginFill(size_t ring, llvm::Value* slot);
  // Returns the barrier on which copies to the slot (i64) count.
  llvm::Value* Full(size_t ring, llvm::Value* slot);

  // Returns the index of a slot, an i64, at the current place of the code.
  using SlotOf = std::function<llvm::Value*(loops::NodeId index)>;
  // All threads of warps that run the subgroup loop wait until the slots are
  // full, for rings that this loop is the first of its iteration to read. True
  // if it reads rings whose products stay in flight.
  bool BeforeReader(const loops::Statement& reader, const SlotOf& slot_of);
  // True if the loop is the last of its iteration to read a ring, and its
  // products do not stay in flight.
  bool EndsReading(const loops::Statement& reader) const;
  // Called when these products have ended: the warp signals that the slot is
  // empty.
  void AfterReader(const loops::Statement& reader, const SlotOf& slot_of,
                   llvm::Value* lane);
  // LeaveTurn is called at the end of an iteration whose products stay in
  // flight: those of the previous iteration have ended, and the slots that they
  // read are empty. LeaveLoop, after the loop, does the same for the last
  // iteration.
  void LeaveTurn(llvm::Value* lane);
  void LeaveLoop(llvm::Value* lane);

 private:
  // Variables for a ring, in the consumers' code.
  struct Variables {
    llvm::AllocaInst* parities = nullptr;  // i32
    // If products stay in flight: `before` holds the slot of the previous
    // iteration, or -1 (i32), and `slot` is that of the current one.
    llvm::AllocaInst* before = nullptr;
    llvm::Value* slot = nullptr;
  };

  int64_t FirstOf(size_t ring) const;
  llvm::Value* Empty(size_t ring, llvm::Value* slot);
  llvm::Value* At(int64_t number, llvm::Value* slot);
  // Returns the parity that the role waits for next at the slot, and flips it
  // in `parities`.
  llvm::Value* NextParity(llvm::AllocaInst* parities, llvm::Value* slot);
  void LeaveBefore(size_t ring, llvm::Value* lane);
  llvm::Value* IsFirst(llvm::Value* lane);
  void ArriveIf(llvm::Value* condition, size_t ring, llvm::Value* slot);
  llvm::AllocaInst* Variable(const char* name, uint32_t value);

  Builder& b_;
  llvm::Function& function_;
  const gpu::WarpRoles& roles_;
  const std::function<llvm::Value*()> first_;
  // Both are per ring.
  std::vector<llvm::AllocaInst*> producer_parities_;
  std::vector<Variables> variables_;
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_SLOT_BARRIERS_H_
