// Test cases for back ends: every row of arithmetic instructions on every type.
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

// Returns the bits of values at and around all limits of the type, and of a few
// random values. Every call returns the same bits.
const std::vector<uint64_t>& BitPatterns(DType type);

// True if the bits are a subnormal number of a type whose arithmetic a device
// does in f32 or f64, so that it may treat the number as zero. Always false for
// f16: devices that flush subnormal numbers of f32 to zero keep those of f16.
bool IsSubnormal(DType type, uint64_t bits);

struct ArithmeticCase {
  // Types of the elements of %a, %b, %c.
  DType a, b, c, result;
  // The expression as text, with the elements %a[$], %b[$] and %c[$].
  std::string expression;
  // Returns the bits of the result for the bits of the operands. If the result
  // is a NaN, any NaN is right.
  std::function<uint64_t(uint64_t a, uint64_t b, uint64_t c)> expected;

  std::string ExpressionAt(const std::string& index) const;
};

// Returns the cases of an instruction group that has arithmetic. Leaves out the
// rows for which IsForOthers holds.
std::vector<ArithmeticCase> RowCases(tensor::InstructionGroup group);
// True if jit/math expands the instruction for this type, or if back ends may
// decline it. RowCases leaves out such rows.
bool IsForOthers(tensor::Opcode opcode, DType type);

std::vector<ArithmeticCase> CastCases();
std::vector<ArithmeticCase> BitcastCases();
std::vector<ArithmeticCase> SelectCases();
// These functions return cases with a constant operand, which back ends may
// compile in another way than an operand in a register.
std::vector<ArithmeticCase> ConstantDivisionCases();
std::vector<ArithmeticCase> ConstantExtremeCases();

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_ARITHMETIC_CASES_H_
