// Arithmetic on stored integers that quantized operators of all families use.
// It matches TensorFlow Lite's reference kernels, rounding included.
//
//   Tensor sum = Centered(x, q_x) …;            // i32
//   SetRequantized(c, sum, {scale}, activation) // to the result's own scale
//
// Errors stay in the graph builder.
#ifndef EMBER_FRONTENDS_TFLITE_QUANTIZED_H_
#define EMBER_FRONTENDS_TFLITE_QUANTIZED_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "frontends/ops/fixed_point.h"
#include "frontends/tflite/operator_context.h"

namespace ember::tflite {

// True if a type holds quantized numbers: i8, u8 and i16.
bool IsStoredType(DType dtype);
int64_t LowestOf(DType dtype);
int64_t HighestOf(DType dtype);

// Returns the real numbers that stored integers represent, as f32.
Tensor DequantizeStored(Tensor x, const Quantization& q);
// Quantizes real numbers: rounds to nearest, halves away from zero, and clamps
// to the type's range.
Tensor QuantizeToStored(Tensor x, const Quantization& q, DType dtype);

// Returns stored integers minus their zero point, as i32. The quantization must
// have one scale.
Tensor CenteredStored(Tensor x, const Quantization& q);

// The range of stored integers after a fused activation.
struct StoredRange {
  int64_t lowest, highest;
};
StoredRange RangeOf(schema::ActivationFunctionType activation,
                    const Quantization& q, DType dtype);

// Sets result 0 of a quantized operator: i32 or i64 sums times `scales` (one,
// or one per element of the last dim), plus the result's zero point, clamped to
// its type and the activation's range.
void SetRequantized(OperatorContext& c, Tensor sums,
                    const std::vector<double>& scales,
                    schema::ActivationFunctionType activation,
                    ops::Halves halves = ops::Halves::kAwayFromZero);
// Sets result 0 from integers on the result's scale: adds the zero point and
// clamps. It is the last part of SetRequantized.
void SetStored(OperatorContext& c, Tensor centered,
               schema::ActivationFunctionType activation);

// Returns the factor from sums to the result's stored integers: the product of
// the operands' scales (`factors`), divided by the result's scale. The division
// has the precision of f32, as in the format's kernels; this affects how sums
// are rounded.
double ScaleIn32Bits(float factors, const Quantization& result);

// Returns the factors from sums of products to y's stored integers: the scale
// of x times that of the weights w, divided by that of y. There is one factor
// for each scale of w (one, or one per channel of the result). in_32_bits: the
// product is rounded to f32, as the format's kernels for weights of one scale
// do.
std::vector<double> SumScales(const Quantization& x, const Quantization& w,
                              const Quantization& y, bool in_32_bits);

// Converts stored integers from one quantization to another.
Tensor Requantized(Tensor x, const Quantization& from, const Quantization& to,
                   DType dtype);

// Returns function(x) for every element x, an 8-bit integer, by a lookup in a
// table that is computed at import.
Tensor ThroughTable(OperatorContext& c, Tensor x, DType result,
                    const std::function<int64_t(int64_t)>& function);
// Sets result 0, of 8 bits, of an operator that is a function of real numbers,
// with one quantized operand of 8 bits: by a table.
void SetThroughTable(OperatorContext& c, float (*function)(float));

// True if each of the first `operands` operands and result 0 hold 8- or 16-bit
// integers with one scale.
bool IsPerTensor(const OperatorContext& c, int operands);
// Returns false, with an error, unless operands and result are quantized per
// tensor.
bool CheckPerTensor(OperatorContext& c, int operands);
// Sets result 0 to real numbers, which are quantized if the model's result is.
// It is for operands whose quantization the integer arithmetic does not
// support.
void SetReal(OperatorContext& c, Tensor real);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_QUANTIZED_H_
