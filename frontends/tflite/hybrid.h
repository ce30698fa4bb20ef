// Products of real numbers with quantized weights, as TensorFlow Lite computes
// them: rows of the operand are quantized to 8 bits at run time, summed in
// integers, and scaled back.
//
//   const Hybrid h = QuantizeRows(x, 1, Rounding::kSymmetric);
//   Tensor sums = Contract(h.values, weights, "bi,oi->bo");   // i32
//   Tensor y = RealSums(c, sums, h, q, bias);
#ifndef EMBER_FRONTENDS_TFLITE_HYBRID_H_
#define EMBER_FRONTENDS_TFLITE_HYBRID_H_

#include "frontends/tflite/operator_context.h"

namespace ember::tflite {

enum class Rounding : uint8_t {
  // The integers [-127, 127] represent [-m, m], where m is the largest
  // magnitude in the row.
  kSymmetric,
  // The integers [-128, 127] represent the range of the row, extended to
  // include 0.
  kAsymmetric,
};

struct Hybrid {
  // The quantized numbers of each row minus the row's zero point, i32.
  Tensor values;
  // The scale of each row, f32. It has the rank of `values`, with 1 in the dims
  // within a row.
  Tensor scale;
};

// Quantizes each row of x. The first `row_dims` dims count the rows; the other
// dims are the elements of a row.
Hybrid QuantizeRows(Tensor x, int row_dims, Rounding rounding);

// Returns sums * (row's scale * weights' scale) + bias. The weights have one
// scale, or one per element of the last dim. The bias may be absent. The first
// dims of the sums count the rows, like those of the operand.
Tensor RealSums(OperatorContext& c, Tensor sums, const Hybrid& hybrid,
                const Quantization& weights, Tensor bias);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_HYBRID_H_
