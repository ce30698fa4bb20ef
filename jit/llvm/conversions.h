// Casts and bitcasts between element types as LLVM IR, on values in registers
// (jit/llvm/ir.h), scalars and vectors: what legalisation (jit/legalise) leaves
// by jit/llvm/target_operations.h.
#ifndef EMBER_JIT_LLVM_CONVERSIONS_H_
#define EMBER_JIT_LLVM_CONVERSIONS_H_

#include "base/dtype.h"
#include "jit/llvm/ir.h"

namespace ember::jit {

class Conversions {
 public:
  Conversions(Builder& builder, TargetTraits target)
      : b_(builder), target_(target) {}

  // Raw or not: where a raw cast of a float to an integer has no value, LLVM's
  // has none either, and bf16 has no other casts from f32.
  llvm::Value* Cast(DType from, DType to, llvm::Value* value);
  // Of the same width.
  llvm::Value* Bitcast(DType to, llvm::Value* value);

 private:
  llvm::Value* FloatToFloat(DType from, DType to, llvm::Value* value);
  // The float, of which LLVM does not know that it is or becomes an f16.
  llvm::Value* Opaque(llvm::Value* value);

  Builder& b_;
  TargetTraits target_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_CONVERSIONS_H_
