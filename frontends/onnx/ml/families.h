// The families of operators of the domain ai.onnx.ml, each defined in the file
// of its name.
#ifndef EMBER_FRONTENDS_ONNX_ML_FAMILIES_H_
#define EMBER_FRONTENDS_ONNX_ML_FAMILIES_H_

#include <span>

#include "frontends/onnx/node/operator_row.h"

namespace ember::onnx {

std::span<const OperatorRow> MlEncoderOperators();
std::span<const OperatorRow> MlFeatureOperators();
std::span<const OperatorRow> MlLinearOperators();
std::span<const OperatorRow> MlMapOperators();
std::span<const OperatorRow> MlSvmOperators();
std::span<const OperatorRow> MlTreeOperators();

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_ML_FAMILIES_H_
