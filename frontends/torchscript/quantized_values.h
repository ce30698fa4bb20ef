// Converts quantized tensors to the real numbers that they represent, and real
// numbers to the integers of a quantized tensor.
//
//   const Tensor x = Dequantized(machine, value);   // f32
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_QUANTIZED_VALUES_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_QUANTIZED_VALUES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// Returns a scale or zero point in a shape that broadcasts to `rank` dims.
Tensor AlongItsAxis(Machine& machine, const Tensor& parameter, int axis,
                    int rank);
// Returns the real numbers that a quantized tensor represents, as f32. A tensor
// that is not quantized is returned unchanged.
Tensor Dequantized(Machine& machine, const Value& value);
// Returns numbers as integers of a type: rounded to the nearest, halves to the
// even one, and clamped to the type's range.
Tensor QuantizedIntegers(Machine& machine, const Tensor& x,
                         const Quantization& quantization, DType type);

// True if one of the arguments is a quantized tensor, or a list that contains
// one.
bool HasQuantized(const std::vector<Argument>& arguments);
// Calls an operator that is defined for real tensors with quantized tensors as
// arguments. `call` calls the operator. Operators that only move or select
// elements get the integers. Other operators get the real numbers, and their
// results are quantized like the first operand. Returns nullopt if the operator
// accepts quantized tensors itself.
using CallFunction =
    std::function<Value(const std::string&, const std::vector<Argument>&)>;
std::optional<Value> CallOnQuantized(Machine& machine, const std::string& name,
                                     const std::vector<Argument>& arguments,
                                     const CallFunction& call);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_QUANTIZED_VALUES_H_
