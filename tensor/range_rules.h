// Derives the range of an instruction's integer result from its operands'
// ranges. The builder's simplifier and the bounds analysis share these rules.
#ifndef EMBER_TENSOR_RANGE_RULES_H_
#define EMBER_TENSOR_RANGE_RULES_H_

#include "tensor/instructions.h"
#include "tensor/interval.h"

namespace ember::tensor {

// Largest extent of a dim or an axis. Every executor refuses larger ones, so
// simplification may assume that index arithmetic does not wrap.
inline constexpr int64_t kMaxExtent = int64_t{1} << 40;

// Returns the range of the type's values as 64-bit integers. It is full for u64
// and floats.
Interval RangeOfType(DType type);
Interval RangeOfConstant(uint64_t bits, DType type);

// Returns the range of an instruction's result, from the ranges of its operands
// a, b and c. For an operand that is absent or unknown, the caller passes a
// full range. The result is full if nothing is known about it.
Interval RangeOfResult(Opcode opcode, DType operand_type, DType result_type,
                       Interval a, Interval b, Interval c);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_RANGE_RULES_H_
