// Functions with which passes examine values and operations. Functions about
// constants are in constant_value.h.
#ifndef EMBER_COMPILER_PASSES_QUERIES_H_
#define EMBER_COMPILER_PASSES_QUERIES_H_

#include <string_view>

#include "base/dtype.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/operators/contract_spec.h"

namespace ember::compiler {

// True for integers of 8 bits.
constexpr bool IsByte(DType type) {
  return type == DType::kI8 || type == DType::kU8;
}

// True if an operation with the operator `operator_name` produces the value.
bool IsResultOf(const graph::Value* value, std::string_view operator_name);

// True for a cast of an 8-bit float to f32. Machines can multiply two such
// factors directly, without the cast.
bool IsWidenedFloat8(const graph::Value* value);

// True if the value has exactly one use, as one operand of one operation, and
// is no result of the graph. Its producer can then be changed to suit that use.
bool IsUsedOnce(const graph::Value* value);

// True for a value of exactly one element, of any rank.
bool HasOneElement(const graph::Value* value);

// True if every element of an i32 value is known to be in the range of the byte
// type (0 … 255 or -128 … 127): the value is a cast from that type or a
// constant with such elements, perhaps reshaped or broadcast.
bool HoldsBytes(const graph::Value* value, DType byte_type);

// Returns the spec of a `contract`.
graph::ContractSpec SpecOf(const graph::Operation& contract);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_QUERIES_H_
