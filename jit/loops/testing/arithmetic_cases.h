// Test cases for back ends: the arithmetic instructions on every type, except
// those that other tests cover or that back ends may decline (IsForOthers).
// A case is an expression over elements, and the bits of its result for given
// bits of the operands.
//
//   for (const ArithmeticCase& test : CastCases()) {
//     test.ExpressionAt("i * 16 + l");   // "f32(%a[i * 16 + l])"
//     test.expected(a, b, c);
//   }
#ifndef EMBER_JIT_LOOPS_TESTING_ARITHMETIC_CASES_H_
#define EMBER_JIT_LOOPS_TESTING_ARITHMETIC_CASES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "tensor/instructions.h"

namespace ember::loops {

// Returns bit patterns of the type as operands for tests: values at and around
// all its limits, and a few random values. Every call returns the same
// patterns.
const std::vector<uint64_t>& BitPatterns(DType type);

// True if the bits are a subnormal number, and the type is one of those that
// devices compute in f32 or f64, so that they may treat the number as zero.
// Always false for f16, because devices that flush subnormal f32 to zero keep
// subnormal f16.
bool IsSubnormal(DType type, uint64_t bits);

struct ArithmeticCase {
  // Types of the elements of %a, %b, %c.
  DType a, b, c, result;
  // The expression as text. Its operands are %a[$], %b[$] and %c[$], where $ is
  // replaced by an index.
  std::string expression;
  // Returns the bits of the result for the bits of the operands. If the result
  // is a NaN, any NaN is right.
  std::function<uint64_t(uint64_t a, uint64_t b, uint64_t c)> expected;

  std::string ExpressionAt(const std::string& index) const;
};

// Returns a case for each instruction of the group and each type, if the group
// has arithmetic. Leaves out the instructions for which IsForOthers holds.
std::vector<ArithmeticCase> RowCases(tensor::InstructionGroup group);
// True if other tests cover the instruction for this type: those of jit/math,
// which expands it, or none, if back ends may decline it. RowCases leaves out
// these instructions.
bool IsForOthers(tensor::Opcode opcode, DType type);

std::vector<ArithmeticCase> CastCases();
std::vector<ArithmeticCase> BitcastCases();
std::vector<ArithmeticCase> SelectCases();
// ConstantDivisionCases and ConstantExtremeCases return cases with a constant
// operand, which back ends may compile in another way than an operand in a
// register.
std::vector<ArithmeticCase> ConstantDivisionCases();
std::vector<ArithmeticCase> ConstantExtremeCases();

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_ARITHMETIC_CASES_H_
