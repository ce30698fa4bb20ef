// Maps the matrix instructions of jit/target/matrix_instructions.h to NVVM's
// intrinsics.
#ifndef EMBER_JIT_PTX_MATRIX_INTRINSICS_H_
#define EMBER_JIT_PTX_MATRIX_INTRINSICS_H_

#include "jit/loops/analysis/matrix_operation.h"
#include "jit/target/matrix_instructions.h"
#include "llvm/IR/Intrinsics.h"

namespace ember::jit::ptx {

// Returns the intrinsic of the instruction; not_intrinsic if LLVM 19 has none,
// as for wide products (wgmma) and 8-bit floats. These are emitted by
// device_functions.h.
llvm::Intrinsic::ID IntrinsicOf(const MatrixInstruction& row);

// Returns the sizes and types of the product that the intrinsic computes; null
// if it is no matrix product.
const loops::MatrixType* MatrixTypeOf(llvm::Intrinsic::ID id);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_MATRIX_INTRINSICS_H_
