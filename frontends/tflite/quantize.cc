// Imports conversions between real numbers and stored integers.
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/quantized.h"

namespace ember::tflite {

void ImportQuantize(OperatorContext& c) {
  const Quantization* to = c.OutputQuantization(0);
  const DType type = c.OutputType(0);
  if (to == nullptr || !IsInteger(type))
    return c.FailInvalid("output 0: expected a quantized integer type");
  const Quantization* from = c.InputQuantization(0);
  c.SetOutput(0, from != nullptr ? Requantized(c.Input(0), *from, *to, type)
                                 : QuantizeToStored(c.Input(0), *to, type));
}

// Imports DEQUANTIZE. The operand is already real numbers (operator_table.h),
// or f16.
void ImportDequantize(OperatorContext& c) {
  c.SetOutput(0, Cast(c.Input(0), c.OutputType(0)));
}

// Imports DENSIFY. The reader of constants has already made the operand dense.
void ImportDensify(OperatorContext& c) { c.SetOutput(0, c.Input(0)); }

}  // namespace ember::tflite
