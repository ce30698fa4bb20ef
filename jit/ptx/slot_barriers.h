// The barriers of rings' slots, between a producer's warp and consumers'
// (jit/gpu/warp_roles.h): each slot is full or empty in turns, and each side
// keeps, as a bit for each slot, which phase it waits for next. Rings are known
// by number.
//
//   SlotBarriers slots(builder, function, roles, first);
//   slots.Make();                   // by one thread, before all meet
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
  // first: gives the address of the first barrier, in shared memory. A ring's
  // are behind those of the rings before it: whether slots are full, then
  // whether they are empty.
  SlotBarriers(Builder& builder, llvm::Function& function,
               const gpu::WarpRoles& roles, std::function<llvm::Value*()> first)
      : b_(builder),
        function_(function),
        roles_(roles),
        first_(std::move(first)) {}

  void Make();
  // Code of the role follows; of both, where the producer is a consumer, too.
  void EnterProducer();
  void EnterConsumers();

  // Of the producer: waits until the slot (i64) is empty, and says that so many
  // bytes are to come.
  void BeginFill(size_t ring, llvm::Value* slot);
  // The barrier that copies to the slot (i64) count on.
  llvm::Value* Full(size_t ring, llvm::Value* slot);

  // Gives the index of a slot, an i64, where code is.
  using SlotOf = std::function<llvm::Value*(loops::NodeId index)>;
  // Of all threads of warps that run the subgroup loop: waits until the slots
  // are full of rings that it is the first of its turn to read. Says whether it
  // reads rings whose products go on.
  bool BeforeReader(const loops::Statement& reader, const SlotOf& slot_of);
  // Whether the loop is the last of its turn to read a ring, and its products
  // do not go on.
  bool EndsReading(const loops::Statement& reader) const;
  // Then, when they have ended: as far as the warp is concerned the slot is
  // empty.
  void AfterReader(const loops::Statement& reader, const SlotOf& slot_of,
                   llvm::Value* lane);
  // At the end of a turn whose products go on: those of the turn before have
  // ended, and the slots that they read are empty. Behind the loop: so are
  // those of the last turn.
  void LeaveTurn(llvm::Value* lane);
  void LeaveLoop(llvm::Value* lane);

 private:
  // Of a ring, in the consumers' code.
  struct Variables {
    llvm::AllocaInst* parities = nullptr;  // i32
    // Where products go on: the slot of the turn before, or -1 (i32); and of
    // the turn that code is of.
    llvm::AllocaInst* before = nullptr;
    llvm::Value* slot = nullptr;
  };

  int64_t FirstOf(size_t ring) const;
  llvm::Value* Empty(size_t ring, llvm::Value* slot);
  llvm::Value* At(int64_t number, llvm::Value* slot);
  // Of the role's parities that which it waits for next, of the slot; and the
  // other one from then on.
  llvm::Value* NextParity(llvm::AllocaInst* parities, llvm::Value* slot);
  void LeaveBefore(size_t ring, llvm::Value* lane);
  llvm::Value* IsFirst(llvm::Value* lane);
  void ArriveIf(llvm::Value* condition, size_t ring, llvm::Value* slot);
  llvm::AllocaInst* Variable(const char* name, uint32_t value);

  Builder& b_;
  llvm::Function& function_;
  const gpu::WarpRoles& roles_;
  const std::function<llvm::Value*()> first_;
  // By ring.
  std::vector<llvm::AllocaInst*> producer_parities_;
  std::vector<Variables> variables_;
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_SLOT_BARRIERS_H_
