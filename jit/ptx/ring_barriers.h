// Emits the barriers of rings' slots between a producer and consumers
// (jit/gpu/warp_roles.h). A slot is alternately full and empty, and has a
// barrier for each. Producer and consumers keep one bit per slot: the parity of
// the barrier's phase that they wait for next. Operands `ring` are numbers of
// rings.
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
  // `first` returns the address in shared memory of the first barrier. The
  // barriers are in the order of rings; each ring has those that signal full
  // slots and then those that signal empty slots.
  RingBarriers(llvm_ir::Builder& builder, llvm::Function& function,
               const std::vector<loops::WorkgroupRing>& rings,
               std::function<llvm::Value*()> first)
      : b_(builder),
        function_(function),
        rings_(rings),
        first_(std::move(first)) {}

  void Make();
  // EnterProducer is called before the producer's code, and EnterConsumers
  // before the consumers'. If a thread of the consumers is the producer, both
  // are called.
  void EnterProducer();
  void EnterConsumers();

  // Emits the producer's wait until the slot (an i64) is empty, and sets how
  // many bytes the slot's "full" barrier expects from copies.
  void BeginFill(size_t ring, llvm::Value* slot);
  // Returns the address of the slot's "full" barrier, which counts the bytes
  // that copies bring to the slot (an i64).
  llvm::Value* Full(size_t ring, llvm::Value* slot);

  // Emits a consumer warp's wait until the slot (an i64) is full; all threads
  // of the warp wait.
  void AwaitFull(size_t ring, llvm::Value* slot);
  // Emits a consumer warp's signal that it has finished reading the slot (an
  // i64). Lane 0 signals for the warp, because products of the warp end for all
  // lanes at once.
  void Release(size_t ring, llvm::Value* slot, llvm::Value* lane);

 private:
  int64_t FirstOf(size_t ring) const;
  llvm::Value* Empty(size_t ring, llvm::Value* slot);
  llvm::Value* At(int64_t number, llvm::Value* slot);
  // Returns the parity for the next wait at the slot, and flips the slot's bit
  // in the variable `parities`.
  llvm::Value* NextParity(llvm::AllocaInst* parities, llvm::Value* slot);
  llvm::AllocaInst* Variable(const char* name, uint32_t value);

  llvm_ir::Builder& b_;
  llvm::Function& function_;
  const std::vector<loops::WorkgroupRing>& rings_;
  const std::function<llvm::Value*()> first_;
  // For each ring, a variable (i32) with one bit per slot: the parity for the
  // producer's, or the consumers', next wait.
  std::vector<llvm::AllocaInst*> producer_parities_, consumer_parities_;
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_RING_BARRIERS_H_
