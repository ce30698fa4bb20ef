// The rows of the instruction table as expressions of C, for what legalisation
// (jit/legalise) leaves by jit/c/target_operations.h. Rows that it replaces are
// errors here.
//
//   Arithmetic arithmetic(error);
//   arithmetic.Emit({.opcode = Opcode::kAdd, .type = DType::kI32,
//                    .a = "v1", .b = "v2"});
//   // "(int32_t)((uint32_t)v1 + (uint32_t)v2)"
//
// Integers are computed without a sign, where C has sums that wrap. Operands
// are names, literals or casts of those. An expression may be evaluated earlier
// than, or where, the program would not: nothing in it is undefined but the raw
// divisions, whose divisors are guarded.
//
// Not thread-safe.
#ifndef EMBER_JIT_C_ARITHMETIC_H_
#define EMBER_JIT_C_ARITHMETIC_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "tensor/expression_pool.h"
#include "tensor/instructions.h"

namespace ember::jit::c {

class Arithmetic {
 public:
  struct Operation {
    tensor::Opcode opcode = tensor::Opcode::kAdd;
    bool is_raw = false;  // jit/loops/raw.h
    DType type = DType::kF32;
    std::string a;
    std::string b;
    // Operands and result are of 32 bits, which a sum does not leave.
    bool fits = false;
    // Of an integer or bool constant.
    std::optional<int64_t> known_b;
  };

  // error: gets the first reason for which code cannot be made.
  explicit Arithmetic(Status& error) : error_(error) {}

  // Rows of the groups kUnary, kClassify, kBinary, kCompare.
  std::string Emit(const Operation& op);
  // A node of a pool, no leaf and no load, of the values of its operands. fits:
  // those of them that are i64, and the result if it is, are held in 32 bits.
  std::string EmitNode(const tensor::ExpressionPool& pool,
                       const tensor::Node& node,
                       std::span<const std::string> operands,
                       bool fits = false);

 private:
  // One function per row.
#define EMBER_ROW(name, ...) std::string name(const Operation& op);
  EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW

  std::string Replaced(const Operation& op);
  std::string FloatRemainder(const Operation& op);

  Status& error_;
};

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_ARITHMETIC_H_
