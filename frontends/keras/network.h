// A model as its configuration describes it: layers, and the calls that connect
// them, from either dialect (Keras 2 and 3), Sequential or functional, with
// models among the layers.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<Network> network,
//                          ReadNetwork(document->root(), 3));
//   for (const Layer& layer : network->layers)
//     for (const Call& call : layer.calls) …
//
// Every reference names a layer, call and result that exist (results are
// checked when they are known). Errors are one line that names the layer.
#ifndef EMBER_FRONTENDS_KERAS_NETWORK_H_
#define EMBER_FRONTENDS_KERAS_NETWORK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "frontends/keras/config.h"

namespace ember::keras {

// A reference to a result of a call.
struct Reference {
  int layer = 0;
  int call = 0;
  int result = 0;
};

// An argument of a call: a tensor, a constant, or a list.
struct Argument {
  std::optional<Reference> tensor;
  std::optional<Config> constant;
  bool is_list = false;
  std::vector<Argument> items;  // The items, if the argument is a list.

  bool empty() const { return !tensor && !constant && !is_list; }
};

struct Call {
  std::vector<Argument> arguments;
  std::vector<std::pair<std::string, Argument>> named;
};

struct Network;

struct Layer {
  std::string name;
  std::string class_name;
  // The Python module that defines the class in Keras 3: "keras.layers",
  // "keras.src.ops.numpy" …; empty in Keras 2.
  std::string module;
  Config config;
  // The inner model, if the layer is a model; else null.
  std::unique_ptr<Network> network;
  // The calls of the layer. An input layer has one call, without arguments.
  std::vector<Call> calls;
};

struct Network {
  std::string name;
  bool is_sequential = false;
  std::vector<Layer> layers;
  // References to the tensors that are the model's inputs and outputs, in the
  // model's order.
  std::vector<Reference> inputs, outputs;
};

// Largest depth of models within models.
inline constexpr int kMaxNesting = 16;
// Largest number of layers in all networks of a file together.
inline constexpr int kMaxLayers = 1 << 17;

// True if the class is a model that consists of layers (Sequential, Functional,
// Model), not a layer.
bool IsNetworkClass(std::string_view class_name);

// Reads a model from its configuration. `model`: the JSON object with
// class_name and config.
StatusOr<std::unique_ptr<Network>> ReadNetwork(const Config& model);

// Reads a layer from {"class_name": …, "config": …}, as wrappers hold one.
StatusOr<Layer> ReadLayer(const Config& description);

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_NETWORK_H_
