#include "frontends/keras/network.h"

#include <algorithm>
#include <map>

#include "base/one_line.h"

namespace ember::keras {
namespace {

// Returns the class name as the layer table has it: "Conv2D" for
// "Custom>Conv2D", and the present name of a class that older versions of Keras
// named differently.
std::string PlainClassName(const std::string& name) {
  static const auto* const kOld = new std::map<std::string, std::string>{
      {"BatchNormalizationV1", "BatchNormalization"},
      {"BatchNormalizationV2", "BatchNormalization"},
      {"SyncBatchNormalization", "BatchNormalization"},
      {"GRUV1", "GRU"},
      {"GRUV2", "GRU"},
      {"LSTMV1", "LSTM"},
      {"LSTMV2", "LSTM"},
      {"DenseV2", "Dense"},
      {"Convolution1D", "Conv1D"},
      {"Convolution2D", "Conv2D"},
      {"Convolution3D", "Conv3D"},
      {"Convolution1DTranspose", "Conv1DTranspose"},
      {"Convolution2DTranspose", "Conv2DTranspose"},
      {"Convolution3DTranspose", "Conv3DTranspose"},
      {"SeparableConvolution1D", "SeparableConv1D"},
      {"SeparableConvolution2D", "SeparableConv2D"},
      {"DepthwiseConvolution1D", "DepthwiseConv1D"},
      {"DepthwiseConvolution2D", "DepthwiseConv2D"},
      {"MaxPool1D", "MaxPooling1D"},
      {"MaxPool2D", "MaxPooling2D"},
      {"MaxPool3D", "MaxPooling3D"},
      {"AvgPool1D", "AveragePooling1D"},
      {"AvgPool2D", "AveragePooling2D"},
      {"AvgPool3D", "AveragePooling3D"},
      {"GlobalMaxPool1D", "GlobalMaxPooling1D"},
      {"GlobalMaxPool2D", "GlobalMaxPooling2D"},
      {"GlobalMaxPool3D", "GlobalMaxPooling3D"},
      {"GlobalAvgPool1D", "GlobalAveragePooling1D"},
      {"GlobalAvgPool2D", "GlobalAveragePooling2D"},
      {"GlobalAvgPool3D", "GlobalAveragePooling3D"},
  };
  const auto old = kOld->find(name);
  return old == kOld->end() ? name : old->second;
}

Status Malformed(const std::string& where, std::string_view expected) {
  return DataLossError(where + ": expected " + std::string(expected));
}

class NetworkReader {
 public:
  explicit NetworkReader(int* layers_left) : layers_left_(layers_left) {}

  StatusOr<std::unique_ptr<Network>> Read(const Config& model, int depth) {
    if (depth > kMaxNesting) {
      return ResourceExhaustedError("expected models within models at most " +
                                    std::to_string(kMaxNesting) + " deep");
    }
    depth_ = depth;
    const std::string class_name = model.Text("class_name");
    if (!IsNetworkClass(class_name)) {
      return UnimplementedError(
          "expected a Sequential or functional model, found class '" +
          OnOneLine(class_name) +
          "': its code is not in the file (export it as a functional model)");
    }
    network_ = std::make_unique<Network>();
    network_->is_sequential = class_name == "Sequential";
    const Config config = model.Entry("config");
    network_->name = config.Text("name", "model");
    // Until Keras 2.2.2 a Sequential model's config was the list of layers.
    const std::vector<Config> layers =
        config.is_list() ? config.Items() : config.Items("layers");
    if (layers.empty() && !network_->is_sequential) {
      return UnimplementedError(
          "model '" + OnOneLine(network_->name) +
          "': expected a list of layers, found none: a subclassed model's code "
          "is not in the file (export it as a functional model)");
    }
    EMBER_RETURN_IF_ERROR(network_->is_sequential
                              ? ReadSequential(config, layers)
                              : ReadFunctional(config, layers));
    return std::move(network_);
  }

  StatusOr<Layer> ReadOne(const Config& description, int depth) {
    if (--*layers_left_ < 0) {
      return ResourceExhaustedError("expected at most " +
                                    std::to_string(kMaxLayers) + " layers");
    }
    Layer layer;
    layer.class_name = PlainClassName(description.Text("class_name"));
    layer.module = description.Text("module");
    Config config = description.Entry("config");
    layer.name = config.is_object() ? config.Text("name") : "";
    if (layer.name.empty()) layer.name = description.Text("name");
    if (layer.class_name.empty() || description.json() == nullptr)
      return Malformed(description.where(), "a layer with a class_name");
    layer.config = config.At("layer '" + OnOneLine(layer.name) + "'");
    if (IsNetworkClass(layer.class_name) &&
        layer.module.find("ops") == std::string::npos) {
      EMBER_ASSIGN_OR_RETURN(
          layer.network, NetworkReader(layers_left_).Read(description, depth));
    }
    return layer;
  }

 private:
  Status ReadSequential(const Config& config,
                        const std::vector<Config>& layers) {
    for (const Config& description : layers) {
      EMBER_ASSIGN_OR_RETURN(Layer layer, ReadOne(description, depth_ + 1));
      network_->layers.push_back(std::move(layer));
    }
    std::vector<Layer>& all = network_->layers;
    if (all.empty() || all[0].class_name != "InputLayer") {
      // A Sequential model without an InputLayer gets one here. The first layer
      // (or the first layer of an inner model) describes the input's shape.
      Layer input;
      input.class_name = "InputLayer";
      const std::string first = all.empty() ? "" : all[0].name;
      input.name = first.empty() ? "input" : first + "_input";
      const Config* shape_of = &config;
      if (!all.empty() && all[0].network != nullptr) {
        const Network& inner = *all[0].network;
        if (!inner.inputs.empty())
          shape_of = &inner.layers[inner.inputs[0].layer].config;
      } else if (!all.empty()) {
        shape_of = &all[0].config;
      }
      input.config = *shape_of;
      if (!shape_of->Has("batch_input_shape") &&
          !shape_of->Has("batch_shape") && config.Has("build_input_shape"))
        input.config = config;
      all.insert(all.begin(), std::move(input));
    }
    all[0].calls.emplace_back();
    network_->inputs = {{0, 0, 0}};
    for (size_t i = 1; i < all.size(); ++i) {
      if (all[i].class_name == "InputLayer")
        return Malformed("layer '" + OnOneLine(all[i].name) + "'",
                         "an input layer only as the first layer");
      Call call;
      call.arguments.push_back(
          {.tensor = Reference{static_cast<int>(i) - 1, 0, 0},
           .constant = {},
           .items = {}});
      all[i].calls.push_back(std::move(call));
    }
    network_->outputs = {{static_cast<int>(all.size()) - 1, 0, 0}};
    return OkStatus();
  }

  Status ReadFunctional(const Config& config,
                        const std::vector<Config>& layers) {
    for (const Config& description : layers) {
      EMBER_ASSIGN_OR_RETURN(Layer layer, ReadOne(description, depth_ + 1));
      const std::string name = description.Text("name", layer.name);
      if (!by_name_.emplace(name, network_->layers.size()).second) {
        return DataLossError("layer '" + OnOneLine(name) +
                             "': expected one of this name, found two");
      }
      layer.name = name;
      layer.config = layer.config.At("layer '" + OnOneLine(name) + "'");
      network_->layers.push_back(std::move(layer));
    }
    for (size_t i = 0; i < layers.size(); ++i) {
      Layer& layer = network_->layers[i];
      for (const Config& node : layers[i].Items("inbound_nodes")) {
        EMBER_ASSIGN_OR_RETURN(Call call, ReadCall(node));
        layer.calls.push_back(std::move(call));
      }
      if (layer.calls.empty()) layer.calls.emplace_back();
    }
    EMBER_RETURN_IF_ERROR(
        ReadEnds(config.Entry("input_layers"), network_->inputs));
    EMBER_RETURN_IF_ERROR(
        ReadEnds(config.Entry("output_layers"), network_->outputs));
    if (network_->outputs.empty())
      return Malformed("model '" + OnOneLine(network_->name) + "'",
                       "output_layers");
    return NumberCalls();
  }

  // True for a reference: [name, call, result], which a fourth item may follow.
  static bool IsReference(const Config& json) {
    if (json.size() < 3 || json.size() > 4) return false;
    const std::vector<Config> items = json.Items();
    return items[0].is_text() && items[1].AsInteger() && items[2].AsInteger();
  }

  StatusOr<Reference> ReadReference(const Config& json) {
    const std::vector<Config> items = json.Items();
    const std::string name = items[0].AsText().value_or("");
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) {
      return DataLossError(json.where() +
                           ": expected the name of a layer, "
                           "found '" +
                           OnOneLine(name) + "'");
    }
    const int64_t call = *items[1].AsInteger();
    const int64_t result = *items[2].AsInteger();
    if (call < 0 || call > kMaxLayers || result < 0 || result > 65535)
      return Malformed(json.where(), "a call and a result of a layer");
    return Reference{static_cast<int>(found->second), static_cast<int>(call),
                     static_cast<int>(result)};
  }

  StatusOr<Argument> ReadArgument(const Config& json, int depth) {
    Argument argument;
    if (depth > kMaxNesting)
      return ResourceExhaustedError(json.where() + ": nested too deeply");
    if (json.json() == nullptr) return argument;
    if (json.is_object() && json.Text("class_name") == "__keras_tensor__") {
      const Config history = json.Entry("config").Entry("keras_history");
      if (!IsReference(history))
        return Malformed(history.where(), "a keras_history");
      EMBER_ASSIGN_OR_RETURN(argument.tensor, ReadReference(history));
      return argument;
    }
    // Keras 2 writes tensors among named arguments as triples. A list of a
    // string and numbers is a reference only if a layer has that name.
    if (IsReference(json) &&
        by_name_.contains(json.Items()[0].AsText().value_or(""))) {
      EMBER_ASSIGN_OR_RETURN(argument.tensor, ReadReference(json));
      return argument;
    }
    if (IsReference(json) &&
        json.Items()[0].AsText() == std::string("_CONSTANT_VALUE")) {
      argument.constant = json.Items()[2];
      return argument;
    }
    if (json.is_list()) {
      argument.is_list = true;
      bool all_constant = true;
      for (const Config& item : json.Items()) {
        EMBER_ASSIGN_OR_RETURN(Argument inner, ReadArgument(item, depth + 1));
        all_constant = all_constant && inner.constant.has_value();
        argument.items.push_back(std::move(inner));
      }
      // A list that contains no tensors is kept as one constant.
      if (all_constant) {
        argument = {};
        argument.constant = json;
      }
      return argument;
    }
    argument.constant = json;
    return argument;
  }

  StatusOr<Call> ReadCall(const Config& node) {
    Call call;
    if (node.is_object()) {
      for (const Config& item : node.Items("args")) {
        EMBER_ASSIGN_OR_RETURN(Argument argument, ReadArgument(item, 0));
        call.arguments.push_back(std::move(argument));
      }
      EMBER_RETURN_IF_ERROR(ReadNamed(node.Entry("kwargs"), call));
      return call;
    }
    // Keras 2 writes the arguments of a call as a list of [name, call, result,
    // named arguments], one for each input tensor. The named arguments are the
    // same in each item.
    std::vector<Config> items = node.Items();
    if (IsReference(node)) items = {node};
    Argument list;
    list.is_list = true;
    for (const Config& item : items) {
      if (!IsReference(item) &&
          !(item.Items().size() == 4 && item.Items()[0].is_text()))
        return Malformed(item.where(), "[layer, call, result]");
      if (item.Items()[0].AsText() == std::string("_CONSTANT_VALUE")) {
        Argument constant;
        constant.constant = item.Items()[2];
        list.items.push_back(std::move(constant));
      } else {
        if (!IsReference(item))
          return Malformed(item.where(), "[layer, call, result]");
        EMBER_ASSIGN_OR_RETURN(const Reference reference, ReadReference(item));
        list.items.push_back(
            {.tensor = reference, .constant = {}, .items = {}});
      }
      if (item.Items().size() == 4 && call.named.empty())
        EMBER_RETURN_IF_ERROR(ReadNamed(item.Items()[3], call));
    }
    if (list.items.size() == 1) list = list.items[0];
    call.arguments.push_back(std::move(list));
    return call;
  }

  Status ReadNamed(const Config& named, Call& call) {
    for (const std::string& key : named.Keys()) {
      EMBER_ASSIGN_OR_RETURN(Argument argument,
                             ReadArgument(named.Entry(key), 0));
      if (!argument.empty()) call.named.emplace_back(key, std::move(argument));
    }
    return OkStatus();
  }

  // Reads the inputs or outputs of a model: one [name, call, result] triple, or
  // triples in nested lists and objects, in order.
  Status ReadEnds(const Config& json, std::vector<Reference>& ends,
                  int depth = 0) {
    if (depth > kMaxNesting)
      return ResourceExhaustedError(json.where() + ": nested too deeply");
    if (IsReference(json)) {
      EMBER_ASSIGN_OR_RETURN(ends.emplace_back(), ReadReference(json));
      return OkStatus();
    }
    for (const Config& item : json.Items())
      EMBER_RETURN_IF_ERROR(ReadEnds(item, ends, depth + 1));
    for (const std::string& key : json.Keys())
      EMBER_RETURN_IF_ERROR(ReadEnds(json.Entry(key), ends, depth + 1));
    return OkStatus();
  }

  // Renumbers calls of inner models. Keras may have called such a model when it
  // was made; Keras counts that call but does not write it, so that the written
  // calls begin at 1.
  Status NumberCalls() {
    std::vector<int> last(network_->layers.size(), -1);
    const auto each = [&](const auto& visit) {
      const auto visit_argument = [&](auto& self, Argument& argument) -> void {
        if (argument.tensor) visit(*argument.tensor);
        for (Argument& item : argument.items) self(self, item);
      };
      for (Layer& layer : network_->layers) {
        for (Call& call : layer.calls) {
          for (Argument& argument : call.arguments)
            visit_argument(visit_argument, argument);
          for (auto& [name, argument] : call.named)
            visit_argument(visit_argument, argument);
        }
      }
      for (Reference& reference : network_->inputs) visit(reference);
      for (Reference& reference : network_->outputs) visit(reference);
    };
    each([&](Reference& reference) {
      last[reference.layer] = std::max(last[reference.layer], reference.call);
    });
    Status status;
    each([&](Reference& reference) {
      const Layer& layer = network_->layers[reference.layer];
      const int calls = static_cast<int>(layer.calls.size());
      if (layer.network != nullptr && last[reference.layer] == calls)
        --reference.call;
      if (reference.call >= 0 && reference.call < calls) return;
      status = DataLossError("layer '" + OnOneLine(layer.name) +
                             "': expected a reference to one of its " +
                             std::to_string(calls) + " calls, found call " +
                             std::to_string(reference.call));
      reference.call = 0;
    });
    return status;
  }

  int* layers_left_;
  int depth_ = 0;
  std::unique_ptr<Network> network_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

}  // namespace

bool IsNetworkClass(std::string_view class_name) {
  return class_name == "Sequential" || class_name == "Functional" ||
         class_name == "Model";
}

StatusOr<std::unique_ptr<Network>> ReadNetwork(const Config& model) {
  int layers_left = kMaxLayers;
  return NetworkReader(&layers_left).Read(model, 0);
}

StatusOr<Layer> ReadLayer(const Config& description) {
  int layers_left = kMaxLayers;
  return NetworkReader(&layers_left).ReadOne(description, 0);
}

}  // namespace ember::keras
