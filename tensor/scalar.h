// One arithmetic instruction on single values, given and returned as bits (as
// in Instruction::immediate: low bytes first, upper bytes zero).
//
//   EvaluateScalar(Opcode::kAdd, DType::kI8, DType::kI8, {0x7f, 0x01}) == 0x80
//
// The slow, general way to reach tensor/semantics.h with types known only at
// run time: for constant folding, the header of a dispatch, and the scalar
// evaluator.
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

// Evaluates one instruction. operand_type is the type of a (of b and c for
// Select). The opcode must accept it: any unary, classifying, binary or
// comparing instruction, Select, Cast and Bitcast.
uint64_t EvaluateScalar(Opcode opcode, DType operand_type, DType result_type,
                        ScalarOperands operands);

// Convert between an integer and the bits of an integer or bool type. Values
// wrap to the type, and are sign-extended back if it is signed; u64 values
// above the largest i64 wrap.
uint64_t IntegerToBits(int64_t value, DType type);
int64_t BitsToInteger(uint64_t bits, DType type);
// DoubleToBits returns the bits of a number as Cast from f64 converts it. The
// next function returns any numeric value as a double (64-bit integers round).
uint64_t DoubleToBits(double value, DType type);
double BitsToDouble(uint64_t bits, DType type);

// Returns the largest finite positive value of a float type.
uint64_t LargestFiniteBits(DType type);

// LoadElement reads one element in memory; the next function writes one.
uint64_t LoadElement(const void* data, int64_t index, DType type);
void StoreElement(void* data, int64_t index, DType type, uint64_t bits);

// Return the identity of a combiner as bits: 0, 1, the largest or the smallest
// value. The latter are infinities where the type has them.
uint64_t ZeroBits(DType type);
uint64_t OneBits(DType type);
uint64_t LargestBits(DType type);
uint64_t SmallestBits(DType type);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_SCALAR_H_
