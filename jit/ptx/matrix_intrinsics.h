// Maps the rows of jit/target/matrix_instructions.h to NVVM's intrinsics.
#ifndef EMBER_JIT_PTX_MATRIX_INTRINSICS_H_
#define EMBER_JIT_PTX_MATRIX_INTRINSICS_H_

#include "jit/loops/analysis/matrix_operation.h"
#include "jit/target/matrix_instructions.h"
#include "llvm/IR/Intrinsics.h"

namespace ember::jit::ptx {

// Returns the intrinsic of the row; not_intrinsic where LLVM 19 has none: for
// wide rows, and for floats of 8 bits. Such instructions are functions of
// device_functions.h.
llvm::Intrinsic::ID IntrinsicOf(const MatrixInstruction& row);

// Returns the type of the intrinsic's product, or null if it multiplies no
// matrices.
const loops::MatrixType* MatrixTypeOf(llvm::Intrinsic::ID id);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_MATRIX_INTRINSICS_H_
