// A value of each thread of a block, all combined into one: what combining
// loops are made of (jit/loops/combining.h).
//
// Warps shuffle, in any type; what the warps have, the first thread combines,
// by way of shared memory. Not thread-safe.
#ifndef EMBER_JIT_PTX_COMBINER_H_
#define EMBER_JIT_PTX_COMBINER_H_

#include <cstdint>
#include <functional>

#include "base/dtype.h"
#include "jit/llvm/ir.h"
#include "jit/llvm/store_emitter.h"
#include "jit/loops/loop_nest.h"
#include "llvm/IR/Function.h"

namespace ember::jit::ptx {

class Combiner {
 public:
  Combiner(Builder& builder, llvm::Function& function, StoreEmitter& stores)
      : b_(builder), function_(function), stores_(stores) {}

  // All threads of the block are here, which has `warps` whole warps. The first
  // thread's result is the value of all; others get anything. parts: room for 8
  // bytes of each warp in shared memory, which nobody uses any more; null where
  // there is one warp. meet() emits a barrier.
  llvm::Value* Combine(DType type, const loops::Store& store,
                       llvm::Value* value, llvm::Value* thread, int64_t warps,
                       llvm::Value* parts, const std::function<void()>& meet);

 private:
  // The value of the lane whose number differs in the bits of `mask`.
  llvm::Value* ShuffleXor(DType type, llvm::Value* value, int mask);
  llvm::Value* PartAt(llvm::Value* parts, llvm::Value* warp);

  Builder& b_;
  llvm::Function& function_;
  StoreEmitter& stores_;
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_COMBINER_H_
