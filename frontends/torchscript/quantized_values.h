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

// A scale or zero point in a shape that broadcasts to `rank` dims.
Tensor AlongItsAxis(Machine& machine, const Tensor& parameter, int axis,
                    int rank);
// The numbers of a quantized tensor as f32; another tensor as it is.
Tensor Dequantized(Machine& machine, const Value& value);
// Numbers as integers of a type: rounded to the nearest, halves to the even
// one, and at most the type's largest.
Tensor QuantizedIntegers(Machine& machine, const Tensor& x,
                         const Quantization& quantization, DType type);

// True if one of the arguments is a quantized tensor, or a list with one.
bool HasQuantized(const std::vector<Argument>& arguments);
// A call with quantized tensors of an operator that is one of other tensors, by
// what `call` gives for an operator and arguments: operators that only move
// elements, or choose among them, move the integers; others compute with the
// real numbers, and their results are rounded as the first operand is. nullopt:
// the operator takes quantized tensors as they are.
using CallFunction =
    std::function<Value(const std::string&, const std::vector<Argument>&)>;
std::optional<Value> CallOnQuantized(Machine& machine, const std::string& name,
                                     const std::vector<Argument>& arguments,
                                     const CallFunction& call);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_QUANTIZED_VALUES_H_
