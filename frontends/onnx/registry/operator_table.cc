#include "frontends/onnx/registry/operator_table.h"

#include <map>
#include <utility>
#include <vector>

#include "frontends/onnx/contrib/families.h"
#include "frontends/onnx/ml/families.h"
#include "frontends/onnx/operators/families.h"

namespace ember::onnx {
namespace {

// One name per line, to avoid merge conflicts when several people add families.
// clang-format off
constexpr std::span<const OperatorRow> (*kFamilies[])() = {
    ActivationOperators,
    AttentionOperators,
    ContractionOperators,
    ContribActivationOperators,
    ContribAttentionOperators,
    ContribContractionOperators,
    ContribGroupAttentionOperators,
    ContribMovementOperators,
    ContribNormalizationOperators,
    ContribQuantizationOperators,
    ContribQuantizedWeightsOperators,
    ControlFlowOperators,
    ConvolutionOperators,
    DeformConvOperators,
    DeterminantOperators,
    ElementwiseOperators,
    FlexAttentionOperators, IndexingOperators,
    LinearAttentionOperators,
    LossOperators,
    MlEncoderOperators,
    MlFeatureOperators,
    MlLinearOperators,
    MlMapOperators,
    MlSvmOperators,
    MlTreeOperators,
    MovementOperators,
    NormalizationOperators,
    PoolingOperators,
    QuantizationOperators,
    RandomOperators,
    RecurrentOperators,
    ReductionOperators,
    ResizeOperators,
    RetiredOperators,
    RoiAlignOperators,
    RoiPoolingOperators,
    SamplingOperators,
    SelectionOperators,
    SequenceOperators,
    ShapeOperators,
    SignalOperators,
    SlicingOperators,
    StringOperators,
    TextFeatureOperators,
    TrainingOperators,
};
// clang-format on

using Key = std::pair<std::string_view, std::string_view>;

const std::map<Key, const OperatorRow*>& Index() {
  static const auto* const kIndex = [] {
    auto* index = new std::map<Key, const OperatorRow*>;
    for (const OperatorRow& row : OperatorTable()) {
      const bool added = index->emplace(Key(row.domain, row.name), &row).second;
      EMBER_CHECK(added) << "two rows for " << row.name;
    }
    return index;
  }();
  return *kIndex;
}

}  // namespace

std::span<const OperatorRow> OperatorTable() {
  static const auto* const kTable = [] {
    auto* table = new std::vector<OperatorRow>;
    for (auto family : kFamilies) {
      const std::span<const OperatorRow> rows = family();
      table->insert(table->end(), rows.begin(), rows.end());
    }
    return table;
  }();
  return *kTable;
}

const OperatorRow* FindOperator(std::string_view domain, std::string_view name,
                                int opset) {
  if (domain == "ai.onnx") domain = "";
  auto found = Index().find({domain, name});
  if (found == Index().end() || opset < found->second->since) return nullptr;
  return found->second;
}

}  // namespace ember::onnx
