// Accesses lanes that are a few elements apart in memory by accesses of
// neighbours. A gather or a scatter would access each lane by itself:
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

// True if lanes with this distance in elements are worth such accesses.
bool IsNarrowStride(int64_t stride, int lanes);

// Loads the lanes. mask: if it is not null, only its lanes are loaded, and the
// others are undefined. load(first, mask): loads `lanes` neighbours from number
// `first` on, counted from the first lane's element; with a mask, only those
// that the mask has.
llvm::Value* LoadStrided(
    Builder& b, int64_t stride, int lanes, llvm::Value* mask,
    const std::function<llvm::Value*(int64_t first, llvm::Value* mask)>& load);

// Stores the lanes. mask: if it is not null, only its lanes are stored.
// store(first, value, mask): stores those of `lanes` neighbours from number
// `first` on that the mask has.
void StoreStrided(Builder& b, int64_t stride, int lanes, llvm::Value* value,
                  llvm::Value* mask,
                  const std::function<void(int64_t first, llvm::Value* value,
                                           llvm::Value* mask)>& store);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_STRIDED_ACCESS_H_
