// Accesses lanes that are a few elements apart in memory by a few contiguous
// vector accesses. A gather or a scatter would access each lane by itself:
//
//   lanes at    0   2   4   6   8  10  12  14
//   accesses    0 ..........7
//                           7 ............ 14
//
// Each lane belongs to one access. Loads without a mask also read the elements
// between lanes, which are never before the first lane or after the last one.
// Stores use masks, and leave these elements alone.
#ifndef EMBER_JIT_LLVM_EMIT_STRIDED_ACCESS_H_
#define EMBER_JIT_LLVM_EMIT_STRIDED_ACCESS_H_

#include <cstdint>
#include <functional>

#include "jit/llvm/emit/ir.h"

namespace ember::jit::llvm_ir {

// True if contiguous accesses are faster than a gather or scatter for lanes
// that are `stride` elements apart.
bool IsNarrowStride(int64_t stride, int lanes);

// Returns the loaded lanes. `mask`: if it is not null, only its lanes are
// loaded, and the others are undefined. load(first, mask) must load `lanes`
// contiguous elements from number `first` on, counted from the first lane's
// element; with a mask, only the elements that are true in it.
llvm::Value* LoadStrided(
    Builder& b, int64_t stride, int lanes, llvm::Value* mask,
    const std::function<llvm::Value*(int64_t first, llvm::Value* mask)>& load);

// Stores the lanes of `value`. `mask`: if it is not null, only its lanes are
// stored. store(first, value, mask) must store those of `lanes` contiguous
// elements from number `first` on that are true in its mask.
void StoreStrided(Builder& b, int64_t stride, int lanes, llvm::Value* value,
                  llvm::Value* mask,
                  const std::function<void(int64_t first, llvm::Value* value,
                                           llvm::Value* mask)>& store);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_STRIDED_ACCESS_H_
