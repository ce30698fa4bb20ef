// Neural networks, also as classifiers and regressors. Before specification
// version 4 every blob is [sequence, batch, channels, rows, columns].
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/coreml/importer.h"
#include "frontends/coreml/layer_context.h"
#include "frontends/coreml/layer_table.h"

namespace ember::coreml {
namespace {

// Fields of NeuralNetwork and NeuralNetworkLayer.
constexpr uint64_t kLayers = 1, kPreprocessing = 2, kArrayMapping = 5,
                   kImageMapping = 6, kProbabilitiesLayer = 200;
constexpr uint64_t kLayerName = 1, kLayerInput = 2, kLayerOutput = 3,
                   kFirstLayerKind = 100;

uint64_t KindOfLayer(const ProtobufView& layer) {
  uint64_t kind = 0;
  for (const uint64_t number : layer.Numbers())
    if (number >= kFirstLayerKind) kind = number;
  return kind;
}

std::string NameOfLayer(uint64_t kind) {
  const LayerRow* row = FindLayer(kind);
  return row != nullptr ? std::string(row->name)
                        : "layer " + std::to_string(kind);
}

// x * scale + bias of each channel, or x less an image.
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
    // The numbers lie as those of weights do.
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

// As the description says where that fits; else without leading dims of 1.
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

Status ImportLayer(ModelContext& context, const ProtobufView& layer,
                   std::map<std::string, Tensor>& blobs) {
  const uint64_t kind = KindOfLayer(layer);
  const LayerRow* row = FindLayer(kind);
  const std::string name = OnOneLine(layer.Text(kLayerName));
  if (row == nullptr || row->import == nullptr)
    return UnimplementedError("unsupported operator " + NameOfLayer(kind));
  EMBER_RETURN_IF_ERROR(context.steps.Begin(row->name));
  const std::string origin = name + " (" + std::string(row->name) + ")";
  context.builder.SetOrigin(origin);
  const std::vector<std::string> names = layer.Texts(kLayerInput);
  if (static_cast<int>(names.size()) < row->minimum_inputs ||
      static_cast<int>(names.size()) > row->maximum_inputs) {
    return DataLossError("node '" + origin + "': expected at least " +
                         std::to_string(row->minimum_inputs) +
                         " inputs, found " + std::to_string(names.size()));
  }
  std::vector<Tensor> inputs;
  for (const std::string& input : names) {
    const auto found = blobs.find(input);
    if (found == blobs.end()) {
      return DataLossError("node '" + origin + "': expected a blob '" +
                           OnOneLine(input) +
                           "' of a layer before it, found none");
    }
    inputs.push_back(found->second);
  }
  const std::vector<std::string> results = layer.Texts(kLayerOutput);
  LayerContext c(context.builder, layer.Message(kind), context.model.owner(),
                 std::move(inputs), results.size());
  row->import(c);
  EMBER_RETURN_IF_ERROR(context.builder.status());
  for (size_t i = 0; i < results.size(); ++i) {
    if (!c.outputs()[i]) {
      return UnimplementedError("node '" + origin + "': output " +
                                std::to_string(i) + " is not supported");
    }
    blobs[results[i]] = c.outputs()[i];
  }
  return OkStatus();
}

}  // namespace

void FindMissingLayers(const ProtobufView& network,
                       frontends::UnsupportedParts& missing) {
  for (const ProtobufView& layer : network.Messages(kLayers)) {
    const uint64_t kind = KindOfLayer(layer);
    const LayerRow* row = FindLayer(kind);
    if (row != nullptr && row->import != nullptr) continue;
    missing.Add(NameOfLayer(kind), layer.Text(kLayerName),
                row == nullptr ? "" : row->reason);
  }
}

Status ImportNetwork(ModelContext& context, const ProtobufView& model,
                     uint64_t kind, Features& features) {
  const ProtobufView network = model.Message(kind);
  const ProtobufView description = model.Message(kDescription);
  const std::vector<Feature> inputs = FeaturesOf(description, 1);
  const auto images = std::count_if(
      inputs.begin(), inputs.end(),
      [](const Feature& feature) { return feature.kind == Feature::kImage; });
  std::map<std::string, Tensor> blobs;
  for (const Feature& feature : inputs) {
    EMBER_ASSIGN_OR_RETURN(const Tensor value,
                           FindFeature(features, feature.name));
    blobs[feature.name] =
        NetworkInput(context, network, feature, value, images == 1);
    EMBER_RETURN_IF_ERROR(context.builder.status());
  }
  const std::vector<ProtobufView> layers = network.Messages(kLayers);
  context.steps.Expect(layers.size());
  for (const ProtobufView& layer : layers)
    EMBER_RETURN_IF_ERROR(ImportLayer(context, layer, blobs));
  std::string last;
  if (!layers.empty()) {
    const std::vector<std::string> results = layers.back().Texts(kLayerOutput);
    if (!results.empty()) last = results.front();
  }
  if (kind == kNetworkClassifier) {
    std::string scores = network.Text(kProbabilitiesLayer);
    if (scores.empty()) scores = last;
    const auto found = blobs.find(scores);
    if (found == blobs.end()) {
      return DataLossError("expected a blob '" + OnOneLine(scores) +
                           "' of probabilities, found none");
    }
    Dim count(1);
    for (const Dim& dim : found->second.shape()) count = count * dim;
    EMBER_RETURN_IF_ERROR(AddClasses(
        context, model, network, Reshape(found->second, {count}), features));
  }
  const std::string predicted = description.Text(11);
  for (const Feature& feature : FeaturesOf(description, 10)) {
    auto found = blobs.find(feature.name);
    if (found == blobs.end() && kind == kNetworkClassifier &&
        features.contains(feature.name))
      continue;
    if (found == blobs.end() && kind == kNetworkRegressor &&
        feature.name == predicted)
      found = blobs.find(last);
    if (found == blobs.end()) {
      return DataLossError("output '" + OnOneLine(feature.name) +
                           "': expected a blob of a layer, found none");
    }
    Tensor value = NetworkOutput(feature, found->second);
    if (feature.kind == Feature::kImage) {
      // Rows of pixels, as images are given.
      if (value.rank() == 3) value = Unsqueeze(value, {0});
      value = Transpose(value, {0, 2, 3, 1});
      value = Cast(Round(Minimum(Maximum(value, 0), 255)), DType::kU8);
    }
    features[feature.name] = {value, ""};
  }
  return context.builder.status();
}

}  // namespace ember::coreml
