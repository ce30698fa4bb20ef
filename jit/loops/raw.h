// Raw instructions behave like machine instructions: they leave out the special
// cases that the instruction table defines (division by 0, shifts by too much,
// saturation, NaNs). jit/legalise writes the table's instructions in terms of
// them, so that a back end only has to print. Dispatches, schedules and
// lowering do not use them.
//
//   %y[i] = select(%b[i] == 0, 0, raw(%a[i] / select(%b[i] == 0, 1, %b[i])))
//
// A node is raw if its immediate is kRaw; the immediate of all other arithmetic
// nodes is 0. It has the operands and the type of the instruction, and the same
// value if the operands are as the row requires. Otherwise it is either
// undefined, so that it must not be computed at all, or unspecified: any value,
// which a select may discard. Back ends may compute values before the
// conditions that guard them, so the operands of an undefined operation must be
// made valid.
//
// Each row lists the instruction, its types, the operands that it requires, and
// the kind of result for other operands.
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
#include "tensor/builder/expression_pool.h"
#include "tensor/scalar.h"

namespace ember::loops {

// The immediate of a node that marks it as raw.
inline constexpr uint64_t kRaw = 1;

// True if the table at the top of this file has a row for the instruction with
// these operand and result types.
bool HasRawForm(tensor::Opcode opcode, DType operand, DType result);

// True if a node with this opcode may be raw. For other opcodes, such as loads
// and constants, the immediate does not mark a node as raw.
constexpr bool MayBeRaw(tensor::Opcode opcode) {
  return tensor::RegisterOperandCount(opcode) > 0;
}
// True if the node is raw. The node's opcode must satisfy MayBeRaw.
inline bool IsRaw(const tensor::Node& node) { return node.immediate == kRaw; }

// Returns the bits of the raw instruction's result. The operands are those of
// tensor::EvaluateScalar. If the result is unspecified, returns a value that is
// most likely wrong. Errors: kInternal if the result is undefined.
StatusOr<uint64_t> EvaluateRaw(tensor::Opcode opcode, DType operand,
                               DType result, tensor::ScalarOperands operands);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_RAW_H_
