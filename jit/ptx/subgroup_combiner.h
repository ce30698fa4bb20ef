// Emits the combination of one value of each thread of a warp
// (loops::Combining), by shuffles, for any type. Not thread-safe.
#ifndef EMBER_JIT_PTX_SUBGROUP_COMBINER_H_
#define EMBER_JIT_PTX_SUBGROUP_COMBINER_H_

#include "base/dtype.h"
#include "jit/llvm/emit/ir.h"
#include "jit/llvm/emit/store_emitter.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::ptx {

class SubgroupCombiner {
 public:
  SubgroupCombiner(llvm_ir::Builder& builder, llvm_ir::StoreEmitter& stores)
      : b_(builder), stores_(stores) {}

  // Returns the combination of the values of all threads of the warp by
  // store.combining; each thread gets it. All threads of the warp must execute
  // the code.
  llvm::Value* Combine(DType type, const loops::Store& store,
                       llvm::Value* value);

 private:
  // Returns the value of the lane whose number is this lane's number xor
  // `mask`.
  llvm::Value* ShuffleXor(DType type, llvm::Value* value, int mask);

  llvm_ir::Builder& b_;
  llvm_ir::StoreEmitter& stores_;
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_SUBGROUP_COMBINER_H_
