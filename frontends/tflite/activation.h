// Activation functions, fused into an operator or on their own.
#ifndef EMBER_FRONTENDS_TFLITE_ACTIVATION_H_
#define EMBER_FRONTENDS_TFLITE_ACTIVATION_H_

#include "frontends/tflite/operator_context.h"

namespace ember::tflite {

// Applies a function to real numbers. Fails for unknown functions.
Tensor Activated(OperatorContext& c, Tensor x,
                 schema::ActivationFunctionType activation);

// Sets result 0 of an operator that is one function of each element. Operands
// of 8 quantized bits use a table, those of 16 bits compute in f32, and real
// ones use `real`.
void SetFunction(OperatorContext& c, float (*number)(float),
                 Tensor (*real)(Tensor));

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_ACTIVATION_H_
