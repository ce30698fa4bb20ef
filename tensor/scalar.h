// Evaluates one arithmetic instruction on single values. Operands and results
// are bits as in Instruction::immediate: low bytes first, upper bytes zero.
//
//   EvaluateScalar(Opcode::kAdd, DType::kI8, DType::kI8, {0x7f, 0x01}) == 0x80
//
// It calls the functions of tensor/semantics.h for types that are known only at
// run time, which is slow. Constant folding, the header of a dispatch and the
// scalar evaluator use it.
#ifndef EMBER_TENSOR_SCALAR_H_
#define EMBER_TENSOR_SCALAR_H_

#include <cstdint>

#include "tensor/instructions.h"

namespace ember::tensor {

struct ScalarOperands {
  uint64_t a = 0;
  uint64_t b = 0;
  uint64_t c = 0;
};

// Evaluates one instruction. operand_type is the type of operand a (for a
// Select, of b and c). The opcode must accept this type. It may be any unary,
// classifying, binary or comparing instruction, Select, Cast or Bitcast.
uint64_t EvaluateScalar(Opcode opcode, DType operand_type, DType result_type,
                        ScalarOperands operands);

// IntegerToBits returns the bits of an integer that wraps to an integer or bool
// type. BitsToInteger returns the integer for such bits, sign-extended if the
// type is signed; u64 values above the largest i64 wrap.
uint64_t IntegerToBits(int64_t value, DType type);
int64_t BitsToInteger(uint64_t bits, DType type);
// DoubleToBits converts a number to `type` as a Cast from f64 does and returns
// the bits. BitsToDouble returns any numeric value as a double; 64-bit integers
// are rounded.
uint64_t DoubleToBits(double value, DType type);
double BitsToDouble(uint64_t bits, DType type);

// Returns the largest finite positive value of a float type.
uint64_t LargestFiniteBits(DType type);

// LoadElement returns the element `index` of an array as bits. StoreElement
// writes an element, given as bits.
uint64_t LoadElement(const void* data, int64_t index, DType type);
void StoreElement(void* data, int64_t index, DType type, uint64_t bits);

// These functions return bits of a value with which a combiner starts: 0 for a
// sum, 1 for a product, the largest value for a minimum, the smallest one for a
// maximum. The largest and smallest values are infinities if the type has them.
uint64_t ZeroBits(DType type);
uint64_t OneBits(DType type);
uint64_t LargestBits(DType type);
uint64_t SmallestBits(DType type);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_SCALAR_H_
