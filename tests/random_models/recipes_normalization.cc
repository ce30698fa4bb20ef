#include <algorithm>

#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

bool LayerNorm(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("ffffdh", 1, 4);
  int axis = b.random().Chance(0.7) ? -1 : b.Axis(x);
  if (axis >= 0) axis -= static_cast<int>(x.rank());
  const Dims dims(x.dims().end() + axis, x.dims().end());
  Names inputs = {x.name, b.Operand(x.type, dims).name};
  const bool has_bias = recipe.name == "LayerNormalization";
  if (has_bias && b.random().Chance(0.7))
    inputs.push_back(b.Operand(x.type, dims).name);
  Attributes attributes = {{"axis", axis}};
  if (b.random().Chance(0.5)) attributes.emplace_back("epsilon", 1e-3);
  const int results =
      has_bias && x.type == TensorProto::FLOAT && b.random().Chance(0.2) ? 3
                                                                         : 1;
  b.Nodes(std::string(recipe.name), inputs, results, attributes,
          std::string(recipe.domain));
  return true;
}

bool BatchNorm(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("ffffd", 2, 5);
  const Dims c = {x.dims()[1]};
  Names inputs = {x.name, b.Operand(x.type, c).name, b.Operand(x.type, c).name,
                  b.Operand(x.type, c).name,
                  b.Operand(x.type, c, {0.1, 3, false}).name};
  Attributes attributes;
  if (b.random().Chance(0.5)) attributes.emplace_back("epsilon", 1e-3);
  b.Node("BatchNormalization", inputs, attributes);
  return true;
}

bool GroupNorm(Builder& b, const Recipe& recipe) {
  const int64_t groups = b.random().Between(1, 4),
                each = b.random().Between(1, 4), c = groups * each;
  const Value x = b.Operand(
      TensorProto::FLOAT, {b.random().Between(1, 2), c,
                           b.random().Between(1, 9), b.random().Between(1, 9)});
  const Dims scale = {b.opset() >= 21 ? c : groups};
  b.Node("GroupNormalization",
         {x.name, b.Operand(x.type, scale).name, b.Operand(x.type, scale).name},
         {{"num_groups", static_cast<int>(groups)}});
  return true;
}

bool MeanVariance(Builder& b, const Recipe& recipe) {
  // Each channel has at least nine random elements. For few or equal elements,
  // ONNX Runtime computes a negative variance sometimes: the mean of squares
  // minus the squared mean.
  const Value x = b.New(TensorProto::FLOAT,
                        {b.random().Between(1, 2), b.random().Between(1, 4),
                         b.random().Between(3, 9), b.random().Between(3, 9)});
  b.Node("MeanVarianceNormalization", {x.name},
         {{"axes", b.random().Chance(0.5) ? std::vector<int64_t>{0, 2, 3}
                                          : std::vector<int64_t>{2, 3}}});
  return true;
}

bool InstanceNorm(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("f", 3, 5);
  const Dims c = {x.dims()[1]};
  // At least three elements are normalized. For one element, ONNX Runtime's
  // formula x * k + (bias - mean * k) has rounding errors of numbers that are
  // three hundred times as large as the result.
  int64_t count = 1;
  for (int64_t i = 2; i < x.rank(); ++i)
    count *= x.dims()[static_cast<size_t>(i)];
  if (count < 3) return false;
  Attributes attributes;
  if (b.random().Chance(0.5))
    attributes.emplace_back("epsilon", b.random().Real(0.001, 0.01));
  b.Node("InstanceNormalization",
         {x.name, b.Operand(x.type, c).name, b.Operand(x.type, c).name},
         attributes);
  return true;
}

bool Lrn(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("f", 4, 4);
  b.Node("LRN", {x.name},
         {{"size", static_cast<int>(2 * b.random().Between(0, 2) + 1)},
          {"alpha", 0.01},
          {"bias", 1.5}});
  return true;
}

bool SkipLayerNorm(Builder& b, const Recipe& recipe) {
  const bool is_simple = recipe.name == "SkipSimplifiedLayerNormalization";
  const Value x = b.Pick("f", 3, 3);
  const int64_t c = x.dims()[2];
  const Value skip = b.Operand(x.type, x.dims());
  Names inputs = {x.name, skip.name, b.Operand(x.type, {c}).name};
  if (!is_simple)
    inputs.push_back(b.random().Chance(0.7) ? b.Operand(x.type, {c}).name : "");
  if (b.random().Chance(0.5)) inputs.push_back(b.Operand(x.type, {c}).name);
  while (inputs.back().empty()) inputs.pop_back();
  b.Node(std::string(recipe.name), inputs, {{"epsilon", 1e-5}},
         "com.microsoft");
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {"", "BatchNormalization", BatchNorm, 9},
    {"", "GroupNormalization", GroupNorm},
    {"", "InstanceNormalization", InstanceNorm},
    {"", "LRN", Lrn},
    {"", "LayerNormalization", LayerNorm, 17},
    {"", "LpNormalization", "fd", "T[*1]{0.1,9} axis=@a p=1|2"},
    {"", "MeanVarianceNormalization", MeanVariance, 9},
    {"", "RMSNormalization", LayerNorm, 23},
    {"", "Scale", "f", "T[*] scale=0.5..2.0", 1, 1, 9},
    {"", "SimplifiedLayerNormalization", LayerNorm},
    {"com.microsoft", "GroupNorm", "f",
     "T[n,h,w,8] T[8] T[8] groups=1|2|4 activation=0|1 channels_last=1"},
    {"com.microsoft", "SkipGroupNorm", "f",
     "T[n,h,w,8] T[8] T[8] T[n,h,w,8] groups=1|2|4 activation=0|1 "
     "channels_last=1"},
    {"com.microsoft", "SimplifiedLayerNormalization", LayerNorm},
    {"com.microsoft", "SkipLayerNormalization", SkipLayerNorm},
    {"com.microsoft", "SkipSimplifiedLayerNormalization", SkipLayerNorm},
};

}  // namespace

std::span<const Recipe> NormalizationRecipes() { return kRows; }

}  // namespace ember::tests
