// Products of real numbers with quantized weights, as TensorFlow Lite computes
// them: rows of the operand are quantized to 8 bits when the model runs, summed
// in integers, and scaled back.
//
//   const Hybrid h = QuantizeRows(x, 1, Rounding::kSymmetric);
//   Tensor sums = Contract(h.values, weights, "bi,oi->bo");   // i32
//   Tensor y = RealSums(c, sums, h, q, bias);
#ifndef EMBER_FRONTENDS_TFLITE_HYBRID_H_
#define EMBER_FRONTENDS_TFLITE_HYBRID_H_

#include "frontends/tflite/operator_context.h"

namespace ember::tflite {

enum class Rounding : uint8_t {
  kSymmetric,   // [-127, 127] for the largest magnitude
  kAsymmetric,  // [-128, 127] for the least and largest, 0 included
};

struct Hybrid {
  Tensor values;  // i32, less the zero point: as if that were 0
  Tensor scale;   // f32 of the same rank, 1 in the dims that a row has
};

// A row is what has the same indices in the first `row_dims` dims.
Hybrid QuantizeRows(Tensor x, int row_dims, Rounding rounding);

// sums * (row's scale * weights' scale, of all or per element of the last dim),
// plus bias, which may be absent. The sums' rows are the first dims of the
// operand.
Tensor RealSums(OperatorContext& c, Tensor sums, const Hybrid& hybrid,
                const Quantization& weights, Tensor bias);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_HYBRID_H_
