// Sorts the instructions of expressions by the units of a processor that
// execute them.
//
//   KindOf(Opcode::kAdd, DType::kF32);   // OperationKind::kFloat
//
// Internal to NestFeatures.
#ifndef EMBER_TUNE_MODEL_OPERATION_KINDS_H_
#define EMBER_TUNE_MODEL_OPERATION_KINDS_H_

#include <cstdint>

#include "base/dtype.h"
#include "tensor/instructions.h"

namespace ember::tune {

enum class OperationKind : uint8_t {
  kNone,    // constants, parameters, variables, which cost nothing
  kMemory,  // loads
  kFloat,   // float additions, multiplications, extremes, rounding, comparisons
  kSlow,    // float and integer divisions, square roots, remainders
  kFunction,  // transcendental functions, which are polynomials in code
  kInteger,   // integer additions, logic, shifts, comparisons
  kProduct,   // products of integers
  kConvert,   // casts between types
  kSelect,
};

// Returns the kind of an instruction whose operands have this type.
OperationKind KindOf(tensor::Opcode opcode, DType type);

// Returns the approximate number of simple instructions that the code has for
// one instruction of the kind. The number is larger for types whose arithmetic
// the code emulates.
double CostOf(OperationKind kind, DType type);

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_OPERATION_KINDS_H_
