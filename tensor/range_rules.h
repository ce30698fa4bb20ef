// How the range of an instruction's integer result follows from its operands'
// ranges: one set of rules, for the builder's simplifier and for bounds
// analysis.
#ifndef EMBER_TENSOR_RANGE_RULES_H_
#define EMBER_TENSOR_RANGE_RULES_H_

#include "tensor/instructions.h"
#include "tensor/interval.h"

namespace ember::tensor {

// No axis is longer than this and no extent larger: whoever runs a dispatch
// refuses larger ones, so that simplification may rely on index arithmetic not
// wrapping.
inline constexpr int64_t kMaximumExtent = int64_t{1} << 40;

// Values of the type, as 64-bit integers; full for u64 and floats.
Interval RangeOfType(DType type);
Interval RangeOfConstant(uint64_t bits, DType type);

// Ranges of the operands a, b, c (full where unknown or absent); full if
// nothing is known.
Interval RangeOfResult(Opcode opcode, DType operand_type, DType result_type,
                       Interval a, Interval b, Interval c);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_RANGE_RULES_H_
