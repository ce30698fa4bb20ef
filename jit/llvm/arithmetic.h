// The arithmetic rows of the instruction table as LLVM IR: each gives, bit by
// bit, what the function of its name in tensor/semantics.h gives (but which NaN
// it is). Nothing here traps or is undefined, so everything may be computed
// earlier than, or where, the program would not.
#ifndef EMBER_JIT_LLVM_ARITHMETIC_H_
#define EMBER_JIT_LLVM_ARITHMETIC_H_

#include <string_view>

#include "jit/llvm/conversions.h"
#include "jit/llvm/ir.h"
#include "tensor/instructions.h"
#include "tensor/interval.h"

namespace ember::jit {

class Arithmetic {
 public:
  // One instruction: operands of `type` in registers, all scalars or all
  // vectors. The ranges are of integer operands.
  struct Operation {
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
  llvm::Value* Emit(tensor::Opcode opcode, const Operation& op);

  Conversions& conversions() { return convert_; }

 private:
  // One function per row.
#define EMBER_ROW(name, ...) llvm::Value* name(const Operation& op);
  EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW

  llvm::Value* Unexpanded(const Operation& op, std::string_view name);
  llvm::Value* FloatRemainder(const Operation& op);
  // A unary function of floats that LLVM has as an intrinsic.
  llvm::Value* Function(const Operation& op, unsigned intrinsic);
  llvm::Value* WideA(const Operation& op);
  llvm::Value* WideB(const Operation& op);
  llvm::Value* Rounded(const Operation& op, llvm::Value* wide);
  llvm::Value* SafeDivisor(const Operation& op);
  // a and b divided by the operation, in 32 bits where that is as good and
  // the machine has no more.
  llvm::Value* Quotient(const Operation& op, llvm::Value* divisor,
                        llvm::Instruction::BinaryOps operation);
  llvm::Value* RemainderFits(const Operation& op, llvm::Value* remainder);
  // Whether Minimum or Maximum of floats is b: `ordered` and `unordered`
  // compare it.
  llvm::Value* Extreme(const Operation& op, llvm::CmpInst::Predicate ordered,
                       llvm::CmpInst::Predicate unordered);
  llvm::Value* InShiftRange(const Operation& op);

  Builder& b_;
  TargetTraits target_;
  Conversions convert_;
  FirstError& error_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_ARITHMETIC_H_
