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
  kSymmetric,   // [-127, 127] covers the largest magnitude.
  kAsymmetric,  // [-128, 127] covers the range, 0 included.
};

struct Hybrid {
  Tensor values;  // i32, minus the zero point.
  Tensor scale;   // f32, same rank; 1 in the dims of a row.
};

// Quantizes each row; a row has one index in each of the first `row_dims` dims.
Hybrid QuantizeRows(Tensor x, int row_dims, Rounding rounding);

// Returns sums * (row's scale * weights' scale) + bias. The weights have one
// scale, or one per element of the last dim. The bias may be absent. The sums'
// rows are the first dims of the operand.
Tensor RealSums(OperatorContext& c, Tensor sums, const Hybrid& hybrid,
                const Quantization& weights, Tensor bias);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_HYBRID_H_
