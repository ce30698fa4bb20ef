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
#include <string_view>
#include <vector>

#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// Reshapes a scale or zero point (a scalar, or a vector along `axis`) so that
// it broadcasts against a tensor of rank `rank`.
Tensor AlongItsAxis(Machine& machine, const Tensor& parameter, int axis,
                    int rank);
// Returns the real numbers that a quantized tensor represents, as f32. A tensor
// that is not quantized is returned unchanged.
Tensor Dequantized(Machine& machine, const Value& value);
// Returns numbers as integers of a type: rounded to the nearest, halves to the
// even one, and clamped to the type's range.
Tensor QuantizedIntegers(Machine& machine, const Tensor& x,
                         const Quantization& quantization, DType type);

// A quantized operand for computations in integers. `centered`: its integers
// minus the zero point, i32; `dtype`: the type of its integers.
struct Integers {
  Tensor centered;
  Quantization quantization;
  DType dtype = DType::kU8;
};
// Reads an operand. If it is not quantized, fails with a message that calls it
// `what`, and returns nullopt.
std::optional<Integers> ReadIntegers(Call& c, const Value& value,
                                     std::string_view what);

// Returns the scale and zero point for quantizing x to u8 at run time: 0 to 255
// cover the range of its elements and 0. is_half: only 0 to 127 are used.
Quantization QuantizationOf(const Tensor& x, bool is_half);

// Returns the scale and zero point for the result that a call has as arguments,
// under these names.
Quantization Asked(Call& c, std::string_view scale = "output_scale",
                   std::string_view zero_point = "output_zero_point");

// True if one of the arguments is a quantized tensor, or a list that contains
// one.
bool HasQuantized(const std::vector<Argument>& arguments);
// Calls the operator `name`, which is defined for real tensors, with quantized
// ones among its arguments; `call` makes the call. Operators that only move or
// select elements get the integers. Other operators get the real numbers, and
// their results are quantized like the first operand. Returns nullopt if the
// operator accepts quantized tensors itself.
using CallFunction =
    std::function<Value(const std::string&, const std::vector<Argument>&)>;
std::optional<Value> CallOnQuantized(Machine& machine, const std::string& name,
                                     const std::vector<Argument>& arguments,
                                     const CallFunction& call);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_QUANTIZED_VALUES_H_
