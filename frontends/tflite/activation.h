// Activation functions, fused into an operator or on their own.
#ifndef EMBER_FRONTENDS_TFLITE_ACTIVATION_H_
#define EMBER_FRONTENDS_TFLITE_ACTIVATION_H_

#include "frontends/tflite/operator_context.h"

namespace ember::tflite {

// Applies an activation function of the format to real numbers. Fails for
// unknown functions.
Tensor Activated(OperatorContext& c, Tensor x,
                 schema::ActivationFunctionType activation);

// Sets result 0 of an operator that is one function of each element. Quantized
// operands of 8 bits use a table that `number` fills, quantized operands of 16
// bits are computed in f32, and real operands use `real`.
void SetFunction(OperatorContext& c, float (*number)(float),
                 Tensor (*real)(Tensor));

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_ACTIVATION_H_
