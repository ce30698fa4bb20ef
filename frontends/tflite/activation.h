// Activation functions, fused into an operator or on their own.
#ifndef EMBER_FRONTENDS_TFLITE_ACTIVATION_H_
#define EMBER_FRONTENDS_TFLITE_ACTIVATION_H_

#include "frontends/tflite/operator_context.h"

namespace ember::tflite {

// Of real numbers. Fails for functions that nobody knows.
Tensor Activated(OperatorContext& c, Tensor x,
                 schema::ActivationFunctionType activation);

// Result 0 of an operator that is one function of each element: of 8-bit
// quantized operands in a table, of 16-bit ones in f32, else by `real`.
void SetFunction(OperatorContext& c, float (*number)(float),
                 Tensor (*real)(Tensor));

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_ACTIVATION_H_
