#include "frontends/coreml/tables.h"

#include <algorithm>
#include <string>
#include <utility>

#include "frontends/ops/compositions.h"

namespace ember::coreml {

using ops::Concat;
using ops::Dim;
using ops::Tensor;

Tensor Vector(graph::GraphBuilder& builder, const std::vector<double>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return {&builder,
          builder.Constant(DType::kF64, {static_cast<int64_t>(values.size())},
                           graph::ConstantData::Copy(
                               {bytes, values.size() * sizeof(double)}))};
}

Tensor Matrix(graph::GraphBuilder& builder, const std::vector<double>& values,
              int64_t rows, int64_t columns) {
  return Reshape(Vector(builder, values), {Dim(rows), Dim(columns)});
}

Tensor AsRows(const Tensor& value, bool is_column) {
  const Tensor wide = Cast(value, DType::kF64);
  if (is_column) return Unsqueeze(wide, {1});
  if (wide.rank() == 2) return wide;
  Dim count(1);
  for (const Dim& dim : wide.shape()) count = count * dim;
  return Reshape(wide, {Dim(1), count});
}

bool IsColumn(const Feature& feature) {
  return feature.kind == Feature::kDouble || feature.kind == Feature::kInt64 ||
         feature.kind == Feature::kString;
}

StatusOr<Tensor> RowsOf(const ModelContext& context, const ProtobufView& model,
                        const Features& features) {
  const std::vector<Feature> inputs =
      FeaturesOf(model.Message(kDescription), 1);
  const bool is_table = std::equal(
      inputs.begin(), inputs.end(), context.table_names.begin(),
      context.table_names.end(), [](const Feature& input, const auto& name) {
        return input.name == name;
      });
  if (context.table && is_table) return context.table;
  std::vector<Tensor> parts;
  for (const Feature& feature : inputs) {
    EMBER_ASSIGN_OR_RETURN(const Tensor value,
                           FindFeature(features, feature.name));
    parts.push_back(AsRows(value, IsColumn(feature)));
  }
  if (parts.empty()) return DataLossError("expected inputs, found none");
  return parts.size() == 1 ? parts[0] : Concat(parts, 1);
}

Status SetRows(const ProtobufView& model, const Tensor& rows,
               Features& features) {
  const std::vector<Feature> outputs =
      FeaturesOf(model.Message(kDescription), 10);
  if (outputs.empty()) return DataLossError("expected an output, found none");
  const std::string predicted = model.Message(kDescription).Text(11);
  const Feature* feature = &outputs.front();
  for (const Feature& output : outputs)
    if (output.name == predicted) feature = &output;
  if (!rows.builder().status().ok()) return rows.builder().status();
  Tensor value = rows;
  if (IsColumn(*feature)) {
    value =
        Cast(Squeeze(SliceAxis(rows, 1, Dim(0), Dim(1)), {1}), feature->dtype);
  } else {
    if (rows.dim(0) == Dim(1)) value = Squeeze(rows, {0});
    value = Cast(
        value, feature->kind == Feature::kArray ? feature->dtype : DType::kF64);
  }
  features[feature->name] = {value, ""};
  return rows.builder().status();
}

Status CheckColumns(const Tensor& rows, int64_t count, std::string_view what) {
  if (rows.dim(1) == Dim(count)) return rows.builder().status();
  return DataLossError(std::string(what) + ": expected " +
                       rows.dim(1).ToString() + " values each, found " +
                       std::to_string(count));
}

}  // namespace ember::coreml
