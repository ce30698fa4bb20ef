// Raw instructions: what machines do, without the cases that the instruction
// table adds (division by 0, shifts by too much, saturation, NaNs).
// jit/legalise writes what the table says with them, so that a back end only
// has to print; neither dispatches nor schedules nor lowering know them.
//
//   %y[i] = select(%b[i] == 0, 0, raw(%a[i] / select(%b[i] == 0, 1, %b[i])))
//
// A node is raw if its immediate is kRaw, which is 0 of all other arithmetic
// nodes. Its operands and its type are those of the instruction, and so is its
// value where the operands are what the row wants. Else it is either undefined,
// so that it must not be computed at all, or unspecified: any value, which a
// select may pass over. Back ends compute values before the conditions that
// they are needed under; an undefined operation has to be guarded by its
// operands.
//
// Rows: (instruction, what it is raw of, operand it wants, otherwise).
//
//   a / b           signed integers    b not 0; b not -1 where a is the
//                                      smallest value        undefined
//   rem(a, b)       signed integers    as a / b              undefined
//   floordiv(a, b)  integers           b not 0               undefined
//                                      neither is negative   unspecified
//   mod(a, b)       integers           as floordiv
//   shl, shr        integers           b in 0..bits-1        unspecified
//   min, max        floats             any: of a number and a NaN it gives the
//                                      number; of +0 and -0 either of them
//   T(a)            float to integer   a without its fraction is a value of T
//                                                            unspecified
//                   integer to         a is a value of T     unspecified
//                   integer
//                   f32 to less        a is a value of T     unspecified
#ifndef EMBER_JIT_LOOPS_RAW_H_
#define EMBER_JIT_LOOPS_RAW_H_

#include <cstdint>

#include "base/status.h"
#include "tensor/expression_pool.h"
#include "tensor/scalar.h"

namespace ember::loops {

// The immediate of a raw node.
inline constexpr uint64_t kRaw = 1;

// Whether the table above has the instruction, of such operands and result.
bool HasRawForm(tensor::Opcode opcode, DType operand, DType result);

// Whether there are such nodes; of others the immediate is something else.
constexpr bool MayBeRaw(tensor::Opcode opcode) {
  return tensor::RegisterOperandCount(opcode) > 0;
}
// Of a node that may be.
inline bool IsRaw(const tensor::Node& node) { return node.immediate == kRaw; }

// The value in bits, as tensor::EvaluateScalar gives it. What is unspecified
// gets a value that is most likely wrong; what is undefined is kInternal.
StatusOr<uint64_t> EvaluateRaw(tensor::Opcode opcode, DType operand,
                               DType result, tensor::ScalarOperands operands);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_RAW_H_
