// The arithmetic rows of the instruction table as SPIR-V: each gives, bit by
// bit, what the function of its name in tensor/semantics.h gives (but which NaN
// it is), as far as the device keeps to what jit/spirv/README.md assumes.
// Nothing here is undefined, so everything may be computed earlier than, or
// where, the program would not.
#ifndef EMBER_JIT_SPIRV_ARITHMETIC_H_
#define EMBER_JIT_SPIRV_ARITHMETIC_H_

#include <string_view>

#include "base/status.h"
#include "jit/spirv/conversions.h"
#include "tensor/instructions.h"
#include "tensor/interval.h"

namespace ember::jit::spirv {

class Arithmetic {
 public:
  // One instruction on values in registers. The ranges are of integers.
  struct Operation {
    DType type = DType::kF32;
    Value a;
    Value b;
    tensor::Interval range_a;
    tensor::Interval range_b;
  };

  // error: gets the first reason for which code cannot be made.
  Arithmetic(CodeBuilder& code, const Target& target, Status& error)
      : c_(code), convert_(code, target), target_(target), error_(error) {}

  // Rows of the groups kUnary, kClassify, kBinary, kCompare.
  Value Emit(tensor::Opcode opcode, const Operation& op);
  // a * b + c of f32 or f64, rounded once or twice. once: of f32 once, wherever
  // there is f64 (but for one in 2^29 results that lie in the middle of two).
  Value MultiplyAdd(Value a, Value b, Value c, bool once);

  Conversions& conversions() { return convert_; }

 private:
  // One function per row.
#define EMBER_ROW(name, ...) Value name(const Operation& op);
  EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW

  Value Unexpanded(const Operation& op, std::string_view name);
  Value FloatRemainder(const Operation& op);
  Value Fit(const Operation& op, Value wide) {
    return convert_.Fit(op.type, wide);
  }
  Value FloatOperation(const Operation& op, spv::Op instruction);
  Value FloatComparison(const Operation& op, spv::Op instruction) {
    return c_.Binary(instruction, Scalar::kBool, op.a, op.b);
  }
  Value SafeDivisor(const Operation& op);
  Value Quotient(const Operation& op);
  Value RemainderFits(const Operation& op, Value remainder);
  // b where it is beyond a, else a; a NaN if there is one.
  Value FloatExtreme(const Operation& op, Value b_is_beyond);
  Value InShiftRange(const Operation& op);

  CodeBuilder& c_;
  Conversions convert_;
  const Target& target_;
  Status& error_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_ARITHMETIC_H_
