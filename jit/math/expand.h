// Expands functions that machines do not have as instructions into expressions
// of instructions that they have. All back ends of such machines then compute
// the same result, and kernels call no library. jit/legalise applies it to
// nests.
//
//   NodeId y = ExpandMath(pool, Opcode::kExp, DType::kF32, {{x}});
//   // 2^n * p(r), in floats, shifts and bitcasts
//
// f16 and bf16 compute in f32 and round once. The largest errors, in units of
// the last place (ULP) of the correctly rounded result, are in the table of
// jit/math/README.md, and the tests measure them. Infinities, NaNs, zeros with
// their signs and subnormal results are those of tensor/semantics.h.
//
// Thread-compatible, as the pool is.
#ifndef EMBER_JIT_MATH_EXPAND_H_
#define EMBER_JIT_MATH_EXPAND_H_

#include <span>

#include "tensor/builder/expression_pool.h"
#include "tensor/instructions.h"

namespace ember::jit {

// The instructions on floats that expansions replace. Rows: (name).
// clang-format off
#define EMBER_FOR_EACH_EXPANDED(row) \
  row(Exp) row(Log) row(Log1p) row(Expm1) row(Sin) row(Cos) row(Tan) \
  row(Asin) row(Acos) row(Atan) row(Sinh) row(Cosh) row(Tanh) \
  row(Asinh) row(Acosh) row(Atanh) row(Erf) row(Power) row(Atan2)
// clang-format on

// True if ExpandMath can replace the instruction with operands of this type.
// This is the case for transcendental functions and powers.
bool IsExpanded(tensor::Opcode opcode, DType type);

// Returns an expression that computes the instruction's value and contains no
// instruction that ExpandMath would replace. IsExpanded(opcode, type) must be
// true, where `type` is the operands' type.
tensor::NodeId ExpandMath(tensor::ExpressionPool& pool, tensor::Opcode opcode,
                          DType type, std::span<const tensor::NodeId> operands);

}  // namespace ember::jit

#endif  // EMBER_JIT_MATH_EXPAND_H_
