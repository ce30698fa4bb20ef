// The weights that each layer has, and their paths in a file.
//
//   // {"kernel", "bias"}
//   std::vector<Role> roles = RolesOf(layer);
//
// Both files list a layer's weights by number only, so that a layer must know
// its own order:
//
//   .h5     one list per layer of the model: first the trained weights, then the
//           others; for an inner model, those of all its layers
//   .keras  "layers/conv2d_1/vars/0", a path of attributes (a cell, a wrapped
//           layer, a dense layer of attention) and a number
//
// A role's path is that of a .keras file with the weight's name in the place of
// "vars/0": "layers/lstm/cell/kernel".
#ifndef EMBER_FRONTENDS_KERAS_WEIGHTS_H_
#define EMBER_FRONTENDS_KERAS_WEIGHTS_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/hdf5/file.h"
#include "frontends/keras/network.h"

namespace ember::keras {

struct Role {
  std::string path;
  bool trainable = true;
};

using WeightsFunction = std::vector<Role> (*)(const Config& config);

struct InnerLayer {
  std::string attribute;  // "forward_layer"
  std::unique_ptr<Layer> layer;
};
// Returns the layers that a layer wraps. The result owns those that the
// function reads from the configuration.
using InnerLayersFunction =
    StatusOr<std::vector<InnerLayer>> (*)(const Config& config);

std::vector<Role> KernelAndBias(const Config& config);
std::vector<Role> KernelAndBiasAxes(const Config& config);
std::vector<Role> DepthwiseWeights(const Config& config);
std::vector<Role> SeparableWeights(const Config& config);
std::vector<Role> BatchNormalizationWeights(const Config& config);
std::vector<Role> GammaAndBeta(const Config& config);
std::vector<Role> ScaleWeights(const Config& config);
std::vector<Role> EmbeddingWeights(const Config& config);
std::vector<Role> ReversibleEmbeddingWeights(const Config& config);
std::vector<Role> CellWeights(const Config& config);
std::vector<Role> AlphaWeights(const Config& config);
std::vector<Role> AttentionWeights(const Config& config);
std::vector<Role> AdditiveAttentionWeights(const Config& config);
std::vector<Role> MultiHeadWeights(const Config& config);
std::vector<Role> NormalizationWeights(const Config& config);
std::vector<Role> LayerScaleWeights(const Config& config);
std::vector<Role> SpectralWeights(const Config& config);

StatusOr<std::vector<InnerLayer>> WrappedLayer(const Config& config);
StatusOr<std::vector<InnerLayer>> BidirectionalLayers(const Config& config);

// Names of a network's layers in a .keras file, in order: "conv2d_1".
std::vector<std::string> StoredNames(const Network& network);

// Returns all weights of a layer, including those of the layers that it wraps.
// If the layer is a model, these are the weights of the model's layers.
StatusOr<std::vector<Role>> RolesOf(const Layer& layer);

using Weights = std::map<std::string, hdf5::Dataset, std::less<>>;

// Reads the weights of a whole model, by role. group: "model_weights" of a .h5
// file, which has the attribute layer_names.
StatusOr<Weights> ReadListedWeights(const Network& network,
                                    const hdf5::Object& group);
// Reads the weights of a whole model of Keras 3, by role. file: the root group
// of model.weights.h5.
StatusOr<Weights> ReadPathWeights(const Network& network,
                                  const hdf5::Object& file);

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_WEIGHTS_H_
