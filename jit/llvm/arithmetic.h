// The arithmetic rows of the instruction table as LLVM IR: an instruction each,
// for what legalisation (jit/legalise) leaves by jit/llvm/target_operations.h.
// Rows that it replaces are errors here. Nothing traps or is undefined but the
// raw divisions, whose divisors are guarded, so everything may be computed
// earlier than, or where, the program would not.
#ifndef EMBER_JIT_LLVM_ARITHMETIC_H_
#define EMBER_JIT_LLVM_ARITHMETIC_H_

#include "jit/llvm/conversions.h"
#include "jit/llvm/ir.h"
#include "tensor/instructions.h"
#include "tensor/interval.h"

namespace ember::jit {

class Arithmetic {
 public:
  // One instruction: operands of `type` in registers, all scalars or all
  // vectors. The ranges are of i64 operands.
  struct Operation {
    tensor::Opcode opcode = tensor::Opcode::kAdd;
    bool is_raw = false;  // jit/loops/raw.h
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

  // Rows of the groups kUnary, kClassify, kBinary, kCompare.
  llvm::Value* Emit(const Operation& op);

  Conversions& conversions() { return convert_; }

 private:
  // One function per row.
#define EMBER_ROW(name, ...) llvm::Value* name(const Operation& op);
  EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW

  llvm::Value* Replaced(const Operation& op);
  // What jit/math writes with other instructions, where the machine has none.
  llvm::Value* Transcendental(const Operation& op);
  llvm::Value* FloatRemainder(const Operation& op);
  // A unary function of floats that LLVM has as an intrinsic.
  llvm::Value* Function(const Operation& op, unsigned intrinsic);
  // Of a and b, in 32 bits where that is as good and the machine has no more.
  llvm::Value* Divided(const Operation& op, bool is_unsigned,
                       llvm::Instruction::BinaryOps operation);

  Builder& b_;
  TargetTraits target_;
  Conversions convert_;
  FirstError& error_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_ARITHMETIC_H_
