// Emits each arithmetic row of the instruction table as an LLVM IR instruction,
// as far as legalisation (jit/legalise) leaves it according to
// jit/llvm/emit/target_operations.h. Rows that legalisation replaces are errors
// here. Only the raw divisions can trap or be undefined, and their divisors are
// guarded. So code may compute any value earlier than the program would, or
// where it would not.
#ifndef EMBER_JIT_LLVM_EMIT_ARITHMETIC_H_
#define EMBER_JIT_LLVM_EMIT_ARITHMETIC_H_

#include "jit/llvm/emit/conversions.h"
#include "jit/llvm/emit/ir.h"
#include "tensor/instructions.h"
#include "tensor/interval.h"

namespace ember::jit::llvm_ir {

class Arithmetic {
 public:
  // One instruction and its operands, which are in registers: all scalars or
  // all vectors. `type` is the type of the operands. The ranges are known
  // bounds of operands of type i64.
  struct Operation {
    tensor::Opcode opcode = tensor::Opcode::kAdd;
    bool is_raw = false;  // true for a raw instruction (jit/loops/raw.h)
    DType type = DType::kF32;
    llvm::Value* a = nullptr;
    llvm::Value* b = nullptr;
    tensor::Interval range_a;
    tensor::Interval range_b;
  };

  Arithmetic(Builder& builder, TargetTraits target, FirstError& error)
      : b_(builder),
        target_(target),
        convert_(builder, target),
        error_(error) {}

  // Emits a row of the groups kUnary, kClassify, kBinary or kCompare.
  llvm::Value* Emit(const Operation& op);

  Conversions& conversions() { return convert_; }

 private:
  // Each row of the instruction table has a function of its name.
#define EMBER_ROW(name, ...) llvm::Value* name(const Operation& op);
  EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW

  llvm::Value* Replaced(const Operation& op);
  // Transcendental emits exp of f32 if the machine has it; legalisation has
  // replaced all other transcendental functions (jit/math). FloatRemainder
  // always declines (DeclineReason::kFloatRemainder).
  llvm::Value* Transcendental(const Operation& op);
  llvm::Value* FloatRemainder(const Operation& op);
  // Emits a unary function of floats that LLVM has as an intrinsic.
  llvm::Value* Function(const Operation& op, unsigned intrinsic);
  // Divides a by b. If the machine has no 64-bit integers, divides in 32 bits
  // where that gives the same result.
  llvm::Value* Divided(const Operation& op, bool is_unsigned,
                       llvm::Instruction::BinaryOps operation);

  Builder& b_;
  TargetTraits target_;
  Conversions convert_;
  FirstError& error_;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_ARITHMETIC_H_
