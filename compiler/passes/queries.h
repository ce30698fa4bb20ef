// What passes ask of values and operations, beside constants
// (constant_value.h).
#ifndef EMBER_COMPILER_PASSES_QUERIES_H_
#define EMBER_COMPILER_PASSES_QUERIES_H_

#include <string_view>

#include "base/dtype.h"
#include "compiler/graph/contract_spec.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

// Integers of 8 bits.
constexpr bool IsByte(DType type) {
  return type == DType::kI8 || type == DType::kU8;
}

// Whether an operation of that operator makes the value.
bool IsResultOf(const graph::Value* value, std::string_view operator_name);

// Whether it is a float of 8 bits cast to f32: a factor that machines multiply
// as it is.
bool IsWidenedFloat8(const graph::Value* value);

// Read by one operand of one operation, and no result of the graph: what makes
// it can be changed for that reader.
bool IsUsedOnce(const graph::Value* value);

// Exactly one element, whatever the rank.
bool HasOneElement(const graph::Value* value);

// Whether every element of an i32 value is known to be one of the byte type,
// of 0 … 255 or -128 … 127: the value is cast from the type or a constant,
// perhaps reshaped or broadcast.
bool HoldsBytes(const graph::Value* value, DType byte_type);

// Of a `contract`.
graph::ContractSpec SpecOf(const graph::Operation& contract);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_QUERIES_H_
