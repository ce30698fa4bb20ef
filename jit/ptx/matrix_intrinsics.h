// NVVM's intrinsics for the rows of jit/target/matrix_instructions.h.
#ifndef EMBER_JIT_PTX_MATRIX_INTRINSICS_H_
#define EMBER_JIT_PTX_MATRIX_INTRINSICS_H_

#include "jit/loops/matrix_operation.h"
#include "jit/target/matrix_instructions.h"
#include "llvm/IR/Intrinsics.h"

namespace ember::jit::ptx {

// not_intrinsic where LLVM 19 has none: of wide rows, and of floats of 8 bits.
// Those are functions of device_functions.h.
llvm::Intrinsic::ID IntrinsicOf(const MatrixInstruction& row);

// What the intrinsic multiplies; null where it is no product of matrices.
const loops::MatrixType* MatrixTypeOf(llvm::Intrinsic::ID id);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_MATRIX_INTRINSICS_H_
