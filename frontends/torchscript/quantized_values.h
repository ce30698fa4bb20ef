// Quantized tensors as values: their numbers, and numbers as their integers.
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
// Returns the numbers of a quantized tensor as f32, and another tensor as it
// is.
Tensor Dequantized(Machine& machine, const Value& value);
// Returns numbers as integers of a type: rounded to the nearest, halves to the
// even one, and clamped to the type's range.
Tensor QuantizedIntegers(Machine& machine, const Tensor& x,
                         const Quantization& quantization, DType type);

// True if one of the arguments is a quantized tensor, or a list with one.
bool HasQuantized(const std::vector<Argument>& arguments);
// Calls, with quantized tensors, an operator that is defined for other tensors,
// by `call`. Operators that only move elements, or choose among them, get the
// integers. Others get the real numbers, and their results are rounded as the
// first operand is. Returns nullopt if the operator takes quantized tensors as
// they are.
using CallFunction =
    std::function<Value(const std::string&, const std::vector<Argument>&)>;
std::optional<Value> CallOnQuantized(Machine& machine, const std::string& name,
                                     const std::vector<Argument>& arguments,
                                     const CallFunction& call);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_QUANTIZED_VALUES_H_
