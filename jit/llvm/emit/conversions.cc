#include "jit/llvm/emit/conversions.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"

namespace ember::jit::llvm_ir {

// Returns the float through an operation that LLVM does not look through. On
// machines without f16 arithmetic LLVM must not narrow f32 arithmetic to f16,
// because minima of f16 would become library calls.
llvm::Value* Conversions::Opaque(llvm::Value* value) {
  if (target_.has_half_arithmetic) return value;
  return b_.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence,
                            {value->getType()}, {value});
}

llvm::Value* Conversions::Bitcast(DType to, llvm::Value* value) {
  return b_.CreateBitCast(value,
                          ShapedAs(RegisterType(b_.getContext(), to), value));
}

llvm::Value* Conversions::Cast(DType from, DType to, llvm::Value* value) {
  if (from == to) return value;
  llvm::Type* type = ShapedAs(RegisterType(b_.getContext(), to), value);
  if (IsFloat(from)) {
    if (IsFloat(to)) return FloatToFloat(from, to, value);
    return IsSigned(to) ? b_.CreateFPToSI(value, type)
                        : b_.CreateFPToUI(value, type);
  }
  if (IsFloat(to)) {
    return IsSigned(from) ? b_.CreateSIToFP(value, type)
                          : b_.CreateUIToFP(value, type);
  }
  return b_.CreateIntCast(value, type, IsSigned(from));
}

llvm::Value* Conversions::FloatToFloat(DType from, DType to,
                                       llvm::Value* value) {
  llvm::Type* type = ShapedAs(RegisterType(b_.getContext(), to), value);
  llvm::Type* word = ShapedAs(b_.getInt32Ty(), value);
  // The bits of a bf16 are the upper half of the bits of the equal f32.
  if (from == DType::kBF16)
    return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(value, word), 16), type);
  if (to == DType::kBF16)
    return b_.CreateTrunc(b_.CreateLShr(b_.CreateBitCast(value, word), 16),
                          type);
  if (from == DType::kF16) return Opaque(b_.CreateFPExt(value, type));
  if (to == DType::kF16) return b_.CreateFPTrunc(Opaque(value), type);
  return from == DType::kF32 ? b_.CreateFPExt(value, type)
                             : b_.CreateFPTrunc(value, type);
}

}  // namespace ember::jit::llvm_ir
