// Arithmetic on stored integers that quantized operators of all families use.
// It matches TensorFlow Lite's reference kernels, rounding included.
//
//   Tensor sum = Centered(x, q_x) …;            // i32
//   SetRequantized(c, sum, {scale}, activation) // to the result's own scale
//
// Errors stick to the graph builder.
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

// Returns the numbers that stored integers represent, f32.
Tensor DequantizeStored(Tensor x, const Quantization& q);
// Quantizes: to nearest, halves away from zero, clamped to the type.
Tensor QuantizeToStored(Tensor x, const Quantization& q, DType dtype);

// Returns stored integers minus their zero point, i32. Per tensor only.
Tensor CenteredStored(Tensor x, const Quantization& q);

// The range of stored integers after a fused activation.
struct StoredRange {
  int64_t lowest, highest;
};
StoredRange RangeOf(schema::ActivationFunctionType activation,
                    const Quantization& q, DType dtype);

// Sets result 0 of a quantized operator: i32 sums times `scales` (one, or one
// per element of the last dim), plus the result's zero point, clamped to its
// type and the activation's range.
void SetRequantized(OperatorContext& c, Tensor sums,
                    const std::vector<double>& scales,
                    schema::ActivationFunctionType activation,
                    ops::Halves halves = ops::Halves::kAwayFromZero);
// The part of SetRequantized after the multiplication.
void SetStored(OperatorContext& c, Tensor centered,
               schema::ActivationFunctionType activation);

// The scale of a result, of factors' scales over its own, in the precision of
// 32 bits that the format's kernels compute it in. The double that they make of
// it decides how sums round.
double ScaleIn32Bits(float factors, const Quantization& result);

// The scales of sums of products: x's times those of the weights (one, or one
// for each channel of the result), over y's. in_32_bits: the product is rounded
// to 32 bits, as the format's kernels for weights of one scale have it.
std::vector<double> SumScales(const Quantization& x, const Quantization& w,
                              const Quantization& y, bool in_32_bits);

// Converts stored integers from one quantization to another.
Tensor Requantized(Tensor x, const Quantization& from, const Quantization& to,
                   DType dtype);

// Looks function(x) up for every 8-bit integer x; the table is computed at
// import.
Tensor ThroughTable(OperatorContext& c, Tensor x, DType result,
                    const std::function<int64_t(int64_t)>& function);
// Sets result 0 of an operator that is a function of real numbers, with one
// quantized operand: by a table for 8 bits, in f32 for 16.
void SetThroughTable(OperatorContext& c, float (*function)(float));

// True if so many operands and the result have 8- or 16-bit integers with one
// scale each.
bool IsPerTensor(const OperatorContext& c, int operands);
// Fails unless operands and result are quantized per tensor.
bool CheckPerTensor(OperatorContext& c, int operands);
// Sets the result 0 to real numbers, quantized where the model has it so: for
// operands whose quantization the integers' formula does not know.
void SetReal(OperatorContext& c, Tensor real);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_QUANTIZED_H_
