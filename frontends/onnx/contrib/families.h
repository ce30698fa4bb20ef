// The families of operators of the domain com.microsoft, each defined in the
// file of its name.
#ifndef EMBER_FRONTENDS_ONNX_CONTRIB_FAMILIES_H_
#define EMBER_FRONTENDS_ONNX_CONTRIB_FAMILIES_H_

#include <span>

#include "frontends/onnx/node/operator_row.h"

namespace ember::onnx {

std::span<const OperatorRow> ContribActivationOperators();
std::span<const OperatorRow> ContribAttentionOperators();
std::span<const OperatorRow> ContribContractionOperators();
std::span<const OperatorRow> ContribGroupAttentionOperators();
std::span<const OperatorRow> ContribMovementOperators();
std::span<const OperatorRow> ContribNormalizationOperators();
std::span<const OperatorRow> ContribQuantizationOperators();
std::span<const OperatorRow> ContribQuantizedWeightsOperators();

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_CONTRIB_FAMILIES_H_
