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
//   barriers.AwaitFull(ring, slot);
//   barriers.Release(ring, slot, lane);  // the slot may be filled again
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

  // Emits the wait of all threads of a warp until the slot (i64) is full.
  void AwaitFull(size_t ring, llvm::Value* slot);
  // Emits the warp's signal that it reads the slot (i64) no more. One lane
  // signals for its warp: the products have ended for all lanes.
  void Release(size_t ring, llvm::Value* slot, llvm::Value* lane);

 private:
  int64_t FirstOf(size_t ring) const;
  llvm::Value* Empty(size_t ring, llvm::Value* slot);
  llvm::Value* At(int64_t number, llvm::Value* slot);
  // Returns the parity of the phase that the role waits for next at the slot,
  // and flips the slot's bit in `parities`.
  llvm::Value* NextParity(llvm::AllocaInst* parities, llvm::Value* slot);
  llvm::AllocaInst* Variable(const char* name, uint32_t value);

  llvm_ir::Builder& b_;
  llvm::Function& function_;
  const std::vector<loops::WorkgroupRing>& rings_;
  const std::function<llvm::Value*()> first_;
  // For each ring: variables (i32) with the parities of the producer and of the
  // consumers, one bit per slot.
  std::vector<llvm::AllocaInst*> producer_parities_, consumer_parities_;
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_RING_BARRIERS_H_
