// Conversions between element types, as tensor/semantics.h defines them, on
// values in registers (jit/llvm/ir.h), scalars and vectors.
#ifndef EMBER_JIT_LLVM_CONVERSIONS_H_
#define EMBER_JIT_LLVM_CONVERSIONS_H_

#include "base/dtype.h"
#include "jit/llvm/ir.h"

namespace ember::jit {

class Conversions {
 public:
  Conversions(Builder& builder, TargetTraits target)
      : b_(builder), target_(target) {}

  // To the type that arithmetic is done in (float for f16 and bf16), exactly,
  // and back, rounding to nearest even.
  llvm::Value* Widen(DType type, llvm::Value* value);
  llvm::Value* Narrow(DType type, llvm::Value* value);

  llvm::Value* Cast(DType from, DType to, llvm::Value* value);
  // Of the same width.
  llvm::Value* Bitcast(DType to, llvm::Value* value);

 private:
  llvm::Value* FloatToInteger(DType to, llvm::Value* value);
  llvm::Value* IntegerToFloat(DType from, DType to, llvm::Value* value);
  llvm::Value* FloatToFloat(DType from, DType to, llvm::Value* value);
  // What a 16-bit float is rounded from so that it rounds only once.
  llvm::Value* IntegerToOddDouble(DType from, llvm::Value* value);
  llvm::Value* ToOddFloat(llvm::Value* value);
  // The float, of which LLVM does not know that it is or becomes an f16.
  llvm::Value* Opaque(llvm::Value* value);
  llvm::Value* NarrowToBFloat(llvm::Value* value);

  Builder& b_;
  TargetTraits target_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_CONVERSIONS_H_
