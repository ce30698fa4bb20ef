// Combines a value of each thread of a warp into one (loops::Combining), by
// shuffles, in any type. Not thread-safe.
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

  // Returns the values of the warp's threads, combined as the store says. All
  // threads of the warp must execute the code.
  llvm::Value* Combine(DType type, const loops::Store& store,
                       llvm::Value* value);

 private:
  // Returns the value of the lane whose number differs from this lane's in the
  // bits of `mask`.
  llvm::Value* ShuffleXor(DType type, llvm::Value* value, int mask);

  llvm_ir::Builder& b_;
  llvm_ir::StoreEmitter& stores_;
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_SUBGROUP_COMBINER_H_
