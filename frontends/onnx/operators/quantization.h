// Functions of linear quantization that operators of several families use.
#ifndef EMBER_FRONTENDS_ONNX_OPERATORS_QUANTIZATION_H_
#define EMBER_FRONTENDS_ONNX_OPERATORS_QUANTIZATION_H_

#include "frontends/onnx/node/context.h"
#include "frontends/ops/quantization.h"

namespace ember::onnx {

using ops::Centered;
using ops::Dequantize;
using ops::DynamicallyQuantized;
using ops::QuantizeDynamically;
using ops::RepeatBlocks;
using ops::RoundToQuantized;

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_OPERATORS_QUANTIZATION_H_
