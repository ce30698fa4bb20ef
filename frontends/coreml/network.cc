// Neural networks, also as classifiers and regressors. Before specification
// version 4 every blob is [sequence, batch, channels, rows, columns].
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/coreml/importer.h"
#include "frontends/coreml/layer_context.h"
#include "frontends/coreml/network_layers.h"

namespace ember::coreml {
namespace {

// Fields of NeuralNetwork.
constexpr uint64_t kPreprocessing = 2, kArrayMapping = 5, kImageMapping = 6,
                   kProbabilitiesLayer = 200;

// Applies the preprocessing that a network states for an image input: x * scale
// + bias per channel, or x minus a mean image.
Tensor Preprocessed(LayerContext& c, const ProtobufView& p,
                    const Feature& feature, Tensor x) {
  if (p.Has(10)) {
    const ProtobufView scaler = p.Message(10);
    const double blue = scaler.Float(20), green = scaler.Float(21),
                 red = scaler.Float(22);
    std::vector<Tensor> biases;
    if (feature.is_gray) {
      biases = {c.Scalar(scaler.Float(30))};
    } else {
      biases = {c.Scalar(feature.is_bgr ? blue : red), c.Scalar(green),
                c.Scalar(feature.is_bgr ? red : blue)};
    }
    for (Tensor& bias : biases) bias = Reshape(bias, {Dim(1)});
    const Tensor bias = Concat(biases, 0);
    if (!c.ok()) return x;
    return x * scaler.Float(10) + Reshape(bias, {bias.dim(0), Dim(1), Dim(1)});
  }
  if (p.Has(11)) {
    std::vector<int64_t> dims;
    for (int i = 1; i < 4; ++i) dims.push_back(c.Extent(x, i).value_or(0));
    // The mean image is stored in the format of weights (WeightParams).
    return x - c.Weights(p, 11, dims);
  }
  return x;
}

Tensor NetworkInput(ModelContext& context, const ProtobufView& network,
                    const Feature& feature, Tensor x, bool only_image) {
  LayerContext c(context.builder, network, context.model.owner(), {}, 0);
  if (feature.kind == Feature::kImage) {
    x = Transpose(Cast(x, DType::kF32), {0, 3, 1, 2});
    for (const ProtobufView& p : network.Messages(kPreprocessing)) {
      const std::string name = p.Text(1);
      if (name == feature.name || (name.empty() && only_image))
        x = Preprocessed(c, p, feature, x);
    }
    return network.Integer(kImageMapping) == 1 ? x : Unsqueeze(x, {0});
  }
  x = Cast(x, DType::kF32);
  if (network.Integer(kArrayMapping) == 1 || !c.ok()) return x;
  const Shape& s = x.shape();
  const Dim one(1);
  if (s.size() == 1) return Reshape(x, {one, one, s[0], one, one});
  if (s.size() == 3) return Reshape(x, {one, one, s[0], s[1], s[2]});
  return x;
}

// Reshapes an output of the network to the shape in the description if both
// have the same number of elements. Otherwise a value of rank 5 loses leading
// dims of 1 until three are left; if these are [C, 1, 1], it becomes [C].
Tensor NetworkOutput(const Feature& feature, Tensor x) {
  if (!x.builder().status().ok()) return x;
  if (!feature.dims.empty()) {
    Dim count(1), stated(1);
    for (const Dim& dim : x.shape()) count = count * dim;
    for (const int64_t dim : feature.dims) stated = stated * Dim(dim);
    if (count == stated)
      return Reshape(x, Shape(feature.dims.begin(), feature.dims.end()));
  }
  if (x.rank() != 5) return x;
  Shape shape = x.shape();
  while (shape.size() > 3 && shape.front() == Dim(1))
    shape.erase(shape.begin());
  while (shape.size() == 3 && shape.back() == Dim(1) && shape[1] == Dim(1) &&
         shape.size() > 1)
    shape.resize(1);
  return Reshape(x, shape);
}

}  // namespace

Status ImportNetwork(ModelContext& context, const ProtobufView& model,
                     uint64_t kind, Features& features) {
  const ProtobufView network = model.Message(kind);
  const ProtobufView description = model.Message(kDescription);
  const std::vector<Feature> inputs = FeaturesOf(description, 1);
  const auto images = std::count_if(
      inputs.begin(), inputs.end(),
      [](const Feature& feature) { return feature.kind == Feature::kImage; });
  Scope blobs(context.builder);
  for (const Feature& feature : inputs) {
    EMBER_ASSIGN_OR_RETURN(const Tensor value,
                           FindFeature(features, feature.name));
    blobs.Set(feature.name, {.tensor = NetworkInput(context, network, feature,
                                                    value, images == 1)});
    EMBER_RETURN_IF_ERROR(context.builder.status());
  }
  const std::vector<ProtobufView> layers = network.Messages(kLayers);
  EMBER_RETURN_IF_ERROR(ImportLayers(context, network, blobs));
  std::string last;
  if (!layers.empty()) {
    const std::vector<std::string> results = layers.back().Texts(kLayerOutput);
    if (!results.empty()) last = results.front();
  }
  if (kind == kNetworkClassifier) {
    std::string scores = network.Text(kProbabilitiesLayer);
    if (scores.empty()) scores = last;
    const MilValue* found = blobs.Find(scores);
    if (found == nullptr) {
      return DataLossError("expected a blob '" + OnOneLine(scores) +
                           "' of probabilities, found none");
    }
    Dim count(1);
    for (const Dim& dim : found->tensor.shape()) count = count * dim;
    EMBER_RETURN_IF_ERROR(AddClasses(
        context, model, network, Reshape(found->tensor, {count}), features));
  }
  const std::string predicted = description.Text(11);
  for (const Feature& feature : FeaturesOf(description, 10)) {
    const MilValue* found = blobs.Find(feature.name);
    if (found == nullptr && kind == kNetworkClassifier &&
        features.contains(feature.name))
      continue;
    if (found == nullptr && kind == kNetworkRegressor &&
        feature.name == predicted)
      found = blobs.Find(last);
    if (found == nullptr) {
      return DataLossError("output '" + OnOneLine(feature.name) +
                           "': expected a blob of a layer, found none");
    }
    Tensor value = NetworkOutput(feature, found->tensor);
    if (feature.kind == Feature::kImage) {
      // An image output [C, H, W] is returned with the channels last, [1, H, W,
      // C].
      if (value.rank() == 3) value = Unsqueeze(value, {0});
      value = Transpose(value, {0, 2, 3, 1});
      value = Cast(Round(Minimum(Maximum(value, 0), 255)), DType::kU8);
    }
    features[feature.name] = {value, ""};
  }
  return context.builder.status();
}

}  // namespace ember::coreml
