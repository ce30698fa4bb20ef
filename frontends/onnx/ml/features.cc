// Imports operators of ai.onnx.ml on single features: scaling, thresholds,
// missing values, selection and concatenation.
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/ml/attributes.h"
#include "frontends/onnx/ml/families.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

void ImportBinarizer(NodeContext& c) {
  Tensor x = c.Input(0);
  const double threshold = c.Float("threshold", 0);
  // Integers are compared with the threshold in f64, so that neither side is
  // rounded.
  Tensor wide = x.is_float() ? x : Cast(x, DType::kF64);
  c.SetOutput(0, Cast(Less(threshold, wide), x.dtype()));
}

// Returns false, with an error, unless `count`, the length of the attribute
// `name`, is 1 or the number of features of x.
bool CheckPerFeature(NodeContext& c, std::string_view name, size_t count,
                     Tensor x) {
  if (!c.CheckRank(0, 1)) return false;
  const Dim& features = x.dim(-1);
  const auto size = static_cast<int64_t>(count);
  if (size == 1 || (size > 0 && !features.is_constant()) ||
      features == Dim(size))
    return true;
  c.FailInvalid("attribute '" + std::string(name) + "': expected 1 or " +
                features.ToString() + " elements, found " +
                std::to_string(count));
  return false;
}

void ImportScaler(NodeContext& c) {
  Tensor x = c.Input(0);
  // Integers are computed in f64, as f32 does not represent all integers beyond
  // 2^24.
  Tensor y = Cast(x, x.is_float() ? x.dtype() : DType::kF64);
  if (const auto offset = c.Floats("offset")) {
    if (!CheckPerFeature(c, "offset", offset->size(), x)) return;
    y = y - NumberVector(c, *offset, y.dtype());
  }
  if (const auto scale = c.Floats("scale")) {
    if (!CheckPerFeature(c, "scale", scale->size(), x)) return;
    y = y * NumberVector(c, *scale, y.dtype());
  }
  c.SetOutput(0, Cast(y, DType::kF32));
}

void ImportNormalizer(NodeContext& c) {
  if (!c.CheckRank(0, 1, 2)) return;
  const std::string norm = c.String("norm", "MAX");
  Tensor x = c.Input(0);
  Tensor y = Cast(x, ScoreType(x));
  const int64_t axis = y.rank() - 1;
  Tensor divisor;
  if (norm == "MAX") {
    divisor = Reduce(y, "maximum", {axis}, true);
  } else if (norm == "L1") {
    divisor = Reduce(Absolute(y), "sum", {axis}, true);
  } else if (norm == "L2") {
    divisor = Sqrt(Reduce(y * y, "sum", {axis}, true));
  } else {
    return c.FailInvalid("attribute 'norm': expected MAX, L1 or L2, found '" +
                         norm + "'");
  }
  Tensor safe = Select(Equal(divisor, 0), divisor.Like(1), divisor);
  c.SetOutput(0, Cast(y / safe, DType::kF32));
}

void ImportImputer(NodeContext& c) {
  Tensor x = c.Input(0);
  if (!x.is_float()) {
    const auto values = c.Integers("imputed_value_int64s");
    const int64_t replaced = c.Integer("replaced_value_int64", 0);
    if (!values)
      return c.FailInvalid("attribute 'imputed_value_int64s' is missing");
    if (!CheckPerFeature(c, "imputed_value_int64s", values->size(), x)) return;
    Tensor imputed = Cast(c.Integers64(*values), x.dtype());
    Tensor old = Reshape(Cast(c.Integers64({replaced}), x.dtype()), {});
    return c.SetOutput(0, Select(Equal(x, old), imputed, x));
  }
  const auto values = c.Floats("imputed_value_floats");
  if (!values)
    return c.FailInvalid("attribute 'imputed_value_floats' is missing");
  if (!CheckPerFeature(c, "imputed_value_floats", values->size(), x)) return;
  const double replaced = c.Float("replaced_value_float", 0);
  Tensor missing = replaced != replaced ? IsNan(x) : Equal(x, replaced);
  c.SetOutput(0, Select(missing, NumberVector(c, *values, x.dtype()), x));
}

// Returns x as a matrix [N, C]: [C] becomes [1, C], and dims after C are
// flattened into it.
Tensor AsMatrix(Tensor x) {
  if (x.rank() == 1) return Unsqueeze(x, {0});
  Dim columns(1);
  for (int i = 1; i < x.rank(); ++i) columns = columns * x.dim(i);
  return Reshape(x, {x.dim(0), columns});
}

// Imports FeatureVectorizer, which concatenates as many columns of each input
// as 'inputdimensions' says: further ones are dropped, missing ones are 0.
void ImportFeatureVectorizer(NodeContext& c) {
  const auto sizes = c.Integers("inputdimensions");
  if (sizes && !CheckCount(c, "inputdimensions", sizes->size(),
                           static_cast<size_t>(c.input_count())))
    return;
  std::vector<Tensor> columns;
  for (int i = 0; i < c.input_count(); ++i) {
    if (!c.Input(i))
      return c.FailInvalid("input " + std::to_string(i) + " is missing");
    if (!c.CheckRank(i, 1)) return;
    Tensor x = Cast(AsMatrix(c.Input(i)), DType::kF32);
    if (sizes && Dim((*sizes)[i]) != x.dim(1)) {
      const Dim missing = Dim((*sizes)[i]) - x.dim(1);
      x = Pad(x, {Dim(0), Dim(0)}, {Dim(0), missing}, "constant", x.Like(0));
    }
    columns.push_back(x);
  }
  c.SetOutput(0, Concat(columns, 1));
}

// Imports ArrayFeatureExtractor, which gathers elements along the last axis.
// The indices are flattened to a list of n, and [C] gives [1, n].
void ImportArrayFeatureExtractor(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  Dim count(1);
  for (const Dim& dim : c.Input(1).shape()) count = count * dim;
  Tensor indices = NormalizeIndices(Reshape(c.Input(1), {count}), x.dim(-1));
  Tensor y = Gather(x, indices, x.rank() - 1);
  if (x.rank() == 1) y = Unsqueeze(y, {0});
  c.SetOutput(0, y);
}

constexpr OperatorRow kRows[] = {
    {"ArrayFeatureExtractor", 0, 2, 2, ImportArrayFeatureExtractor, kMlDomain,
     Moves({0})},
    {"Binarizer", 0, 1, 1, ImportBinarizer, kMlDomain},
    {"FeatureVectorizer", 0, 1, kVariadic, ImportFeatureVectorizer, kMlDomain},
    {"Imputer", 0, 1, 1, ImportImputer, kMlDomain},
    {"Normalizer", 0, 1, 1, ImportNormalizer, kMlDomain},
    {"Scaler", 0, 1, 1, ImportScaler, kMlDomain},
};

}  // namespace

std::span<const OperatorRow> MlFeatureOperators() { return kRows; }

}  // namespace ember::onnx
