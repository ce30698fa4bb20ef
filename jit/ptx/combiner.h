// Combines a value of each thread of a block into one, for combining loops
// (jit/loops/analysis/combining.h).
//
// Warps combine by shuffles, in any type. The first thread then combines the
// warps' values through shared memory. Not thread-safe.
#ifndef EMBER_JIT_PTX_COMBINER_H_
#define EMBER_JIT_PTX_COMBINER_H_

#include <cstdint>
#include <functional>

#include "base/dtype.h"
#include "jit/llvm/emit/ir.h"
#include "jit/llvm/emit/store_emitter.h"
#include "jit/loops/loop_nest.h"
#include "llvm/IR/Function.h"

namespace ember::jit::ptx {

class Combiner {
 public:
  Combiner(llvm_ir::Builder& builder, llvm::Function& function,
           llvm_ir::StoreEmitter& stores)
      : b_(builder), function_(function), stores_(stores) {}

  // Returns the combined value in the first thread; the results of other
  // threads are undefined. All threads of the block must execute the code; the
  // block has `warps` whole warps. parts: room for 8 bytes of each warp in
  // shared memory that is not in use; null if there is one warp. `synchronize`
  // emits a barrier.
  llvm::Value* Combine(DType type, const loops::Store& store,
                       llvm::Value* value, llvm::Value* thread, int64_t warps,
                       llvm::Value* parts,
                       const std::function<void()>& synchronize);

 private:
  // Returns the value of the lane whose number differs from this lane's in the
  // bits of `mask`.
  llvm::Value* ShuffleXor(DType type, llvm::Value* value, int mask);
  llvm::Value* PartAt(llvm::Value* parts, llvm::Value* warp);

  llvm_ir::Builder& b_;
  llvm::Function& function_;
  llvm_ir::StoreEmitter& stores_;
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_COMBINER_H_
