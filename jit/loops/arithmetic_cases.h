// Every arithmetic row on every type, as a case that back ends are tested with:
// an expression of elements, and the bits that it gives for bits of operands.
//
//   for (const ArithmeticCase& test : CastCases()) {
//     test.ExpressionAt("i * 16 + l");   // "f32(%a[i * 16 + l])"
//     test.expected(a, b, c);
//   }
#ifndef EMBER_JIT_LOOPS_ARITHMETIC_CASES_H_
#define EMBER_JIT_LOOPS_ARITHMETIC_CASES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "tensor/instructions.h"

namespace ember::loops {

// Bits of values at and around all limits, and a few random ones, the same at
// each call.
const std::vector<uint64_t>& BitPatterns(DType type);

// Of the types whose arithmetic is done in f32 or f64; f16 is kept by what
// takes subnormal numbers of f32 for zero.
bool IsSubnormal(DType type, uint64_t bits);

struct ArithmeticCase {
  // Types of the elements of %a, %b, %c.
  DType a, b, c, result;
  std::string expression;  // of %a[$], %b[$], %c[$]
  // Bits of the result; of NaNs any.
  std::function<uint64_t(uint64_t a, uint64_t b, uint64_t c)> expected;

  std::string ExpressionAt(const std::string& index) const;
};

// Of a group that has arithmetic, without those below.
std::vector<ArithmeticCase> RowCases(tensor::InstructionGroup group);
// Rows and types that jit/math expands, or that may be declined.
bool IsForOthers(tensor::Opcode opcode, DType type);

std::vector<ArithmeticCase> CastCases();
std::vector<ArithmeticCase> BitcastCases();
std::vector<ArithmeticCase> SelectCases();
// Constants on either side may take other paths than values in registers.
std::vector<ArithmeticCase> ConstantDivisionCases();
std::vector<ArithmeticCase> ConstantExtremeCases();

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ARITHMETIC_CASES_H_
