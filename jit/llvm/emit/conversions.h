// Emits casts and bitcasts between element types as LLVM IR, for scalars and
// vectors in registers (jit/llvm/emit/ir.h), as far as legalisation
// (jit/legalise) leaves them according to jit/llvm/emit/target_operations.h.
#ifndef EMBER_JIT_LLVM_EMIT_CONVERSIONS_H_
#define EMBER_JIT_LLVM_EMIT_CONVERSIONS_H_

#include "base/dtype.h"
#include "jit/llvm/emit/ir.h"

namespace ember::jit::llvm_ir {

class Conversions {
 public:
  Conversions(Builder& builder, TargetTraits target)
      : b_(builder), target_(target) {}

  // Emits a cast, raw or not. A raw cast of a float that does not fit the
  // integer has an undefined result, as LLVM's instruction has. From f32 to
  // bf16 there are only raw casts.
  llvm::Value* Cast(DType from, DType to, llvm::Value* value);
  // Emits a bitcast. Both types have the same width.
  llvm::Value* Bitcast(DType to, llvm::Value* value);

 private:
  llvm::Value* FloatToFloat(DType from, DType to, llvm::Value* value);
  // Returns the float in a way that hides from LLVM that it comes from an f16
  // or becomes one, so that LLVM does not narrow the arithmetic on it. On
  // machines with f16 arithmetic returns the float itself.
  llvm::Value* Opaque(llvm::Value* value);

  Builder& b_;
  TargetTraits target_;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_CONVERSIONS_H_
