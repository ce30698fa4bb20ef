// Emits each row of the instruction table as a SPIR-V instruction, as far as
// legalisation (jit/legalise) leaves it according to
// jit/spirv/target_operations.h. A row that legalisation replaces is an error
// here. Only raw divisions can be undefined, and legalisation has made their
// divisors valid. So emitted code may compute any value earlier than the nest
// does, or where the nest computes nothing.
#ifndef EMBER_JIT_SPIRV_ARITHMETIC_H_
#define EMBER_JIT_SPIRV_ARITHMETIC_H_

#include <map>
#include <span>
#include <utility>

#include "base/status.h"
#include "jit/legalise/formula.h"
#include "jit/spirv/conversions.h"
#include "jit/spirv/target_operations.h"
#include "tensor/builder/expression_pool.h"
#include "tensor/dispatch.h"
#include "tensor/instructions.h"

namespace ember::jit::spirv {

class Arithmetic {
 public:
  // One instruction and the values of its operands.
  struct Operation {
    tensor::Opcode opcode = tensor::Opcode::kAdd;
    bool is_raw = false;  // true for a raw instruction (jit/loops/raw.h)
    DType type = DType::kF32;
    Value a;
    Value b;
  };

  // error: receives the first error, after which emitted code is meaningless.
  Arithmetic(CodeBuilder& code, const Target& target, Status& error)
      : c_(code), convert_(code), target_(target), error_(error) {}

  // Emits an instruction of the groups kUnary, kClassify, kBinary or kCompare
  // of the instruction table.
  Value Emit(const Operation& op);
  // Emits the instruction of a node of a pool, given the values of its
  // operands. The node is no leaf, load or pad.
  Value EmitNode(const tensor::ExpressionPool& pool, const tensor::Node& node,
                 std::span<const Value> operands);
  // Emits the combination of an element `a` with a value `b` by an update, for
  // example a + b. Both have the type `type`.
  Value EmitUpdate(tensor::Update update, DType type, Value a, Value b);
  // Emits a * b + c of f32 or f64. `once`: f32 must be rounded only once, which
  // the device must do by f64 (one in 2^29 results, which lie in the middle of
  // two floats, may round differently). Otherwise it may round once or twice.
  Value MultiplyAdd(Value a, Value b, Value c, bool once);

  Conversions& conversions() { return convert_; }

 private:
  // Each row of the instruction table has a member function with the row's
  // name, which emits it.
#define EMBER_ROW(name, ...) Value name(const Operation& op);
  EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW

  Value Replaced(const Operation& op);
  Value FloatRemainder(const Operation& op);
  Value FloatOperation(const Operation& op, spv::Op instruction);
  Value Comparison(const Operation& op, spv::Op instruction) {
    return c_.Binary(instruction, Scalar::kBool, op.a, op.b);
  }

  CodeBuilder& c_;
  Conversions convert_;
  const Target& target_;
  Status& error_;
  std::map<std::pair<tensor::Update, DType>, legalise::Formula> formulas_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_ARITHMETIC_H_
