// The families of operators of the default domain and of ai.onnx.preview, each
// defined in the file of its name.
#ifndef EMBER_FRONTENDS_ONNX_OPERATORS_FAMILIES_H_
#define EMBER_FRONTENDS_ONNX_OPERATORS_FAMILIES_H_

#include <span>

#include "frontends/onnx/node/operator_row.h"

namespace ember::onnx {

std::span<const OperatorRow> ActivationOperators();
std::span<const OperatorRow> AttentionOperators();
std::span<const OperatorRow> ContractionOperators();
std::span<const OperatorRow> ControlFlowOperators();
std::span<const OperatorRow> ConvolutionOperators();
std::span<const OperatorRow> DeformConvOperators();
std::span<const OperatorRow> DeterminantOperators();
std::span<const OperatorRow> ElementwiseOperators();
std::span<const OperatorRow> FlexAttentionOperators();
std::span<const OperatorRow> IndexingOperators();
std::span<const OperatorRow> LinearAttentionOperators();
std::span<const OperatorRow> LossOperators();
std::span<const OperatorRow> MovementOperators();
std::span<const OperatorRow> NormalizationOperators();
std::span<const OperatorRow> PoolingOperators();
std::span<const OperatorRow> QuantizationOperators();
std::span<const OperatorRow> RandomOperators();
std::span<const OperatorRow> RecurrentOperators();
std::span<const OperatorRow> ReductionOperators();
std::span<const OperatorRow> ResizeOperators();
std::span<const OperatorRow> RetiredOperators();
std::span<const OperatorRow> RoiAlignOperators();
std::span<const OperatorRow> RoiPoolingOperators();
std::span<const OperatorRow> SamplingOperators();
std::span<const OperatorRow> SelectionOperators();
std::span<const OperatorRow> SequenceOperators();
std::span<const OperatorRow> ShapeOperators();
std::span<const OperatorRow> SignalOperators();
std::span<const OperatorRow> SlicingOperators();
std::span<const OperatorRow> StringOperators();
std::span<const OperatorRow> TextFeatureOperators();
std::span<const OperatorRow> TrainingOperators();

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_OPERATORS_FAMILIES_H_
