// Emits each arithmetic row of the instruction table as an LLVM IR instruction,
// as far as legalisation (jit/legalise) leaves it according to
// jit/llvm/emit/target_operations.h. A row that legalisation replaces is an
// error here. Only raw divisions can trap or be undefined, and legalisation has
// made their divisors valid. So emitted code may compute any value earlier than
// the nest does, or where the nest computes nothing.
#ifndef EMBER_JIT_LLVM_EMIT_ARITHMETIC_H_
#define EMBER_JIT_LLVM_EMIT_ARITHMETIC_H_

#include "jit/llvm/emit/conversions.h"
#include "jit/llvm/emit/ir.h"
#include "tensor/instructions.h"
#include "tensor/interval.h"

namespace ember::jit::llvm_ir {

class Arithmetic {
 public:
  // One instruction and its operands: LLVM values in register types, all
  // scalars or all vectors. `type` is the type of the operands. range_a and
  // range_b bound operands of type i64.
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
  // Each row of the instruction table has a member function with the row's
  // name, which emits it.
#define EMBER_ROW(name, ...) llvm::Value* name(const Operation& op);
  EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW

  llvm::Value* Replaced(const Operation& op);
  // Transcendental emits exp of f32 if the machine has an instruction for it;
  // for all other functions it is an error, as legalisation has replaced them
  // (jit/math). FloatRemainder always declines the nest
  // (DeclineReason::kFloatRemainder).
  llvm::Value* Transcendental(const Operation& op);
  llvm::Value* FloatRemainder(const Operation& op);
  // Emits a unary function of floats as a call of an LLVM intrinsic.
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
