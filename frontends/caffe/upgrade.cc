#include "frontends/caffe/upgrade.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/one_line.h"

namespace ember::caffe {
namespace {

// Returns the present name of a V0 layer's type; "" for unknown ones.
std::string_view TypeOfV0(std::string_view type) {
  static constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"accuracy", "Accuracy"},
      {"bnll", "BNLL"},
      {"concat", "Concat"},
      {"conv", "Convolution"},
      {"data", "Data"},
      {"dropout", "Dropout"},
      {"euclidean_loss", "EuclideanLoss"},
      {"flatten", "Flatten"},
      {"hdf5_data", "HDF5Data"},
      {"hdf5_output", "HDF5Output"},
      {"im2col", "Im2col"},
      {"images", "ImageData"},
      {"infogain_loss", "InfogainLoss"},
      {"innerproduct", "InnerProduct"},
      {"lrn", "LRN"},
      {"multinomial_logistic_loss", "MultinomialLogisticLoss"},
      {"pool", "Pooling"},
      {"relu", "ReLU"},
      {"sigmoid", "Sigmoid"},
      {"softmax", "Softmax"},
      {"softmax_loss", "SoftmaxWithLoss"},
      {"split", "Split"},
      {"tanh", "TanH"},
      {"window_data", "WindowData"},
  };
  for (const auto& [old, now] : kTypes) {
    if (old == type) return now;
  }
  return "";
}

void UpgradeV0(V1LayerParameter& v1, LayerParameter& layer) {
  V0LayerParameter& v0 = *v1.mutable_layer();
  layer.set_name(v0.name());
  const std::string_view type = TypeOfV0(v0.type());
  // A V0 type that has no present name keeps its old name, so that it is
  // reported as unsupported.
  layer.set_type(type.empty() ? v0.type() : std::string(type));
  layer.mutable_bottom()->Swap(v1.mutable_bottom());
  layer.mutable_top()->Swap(v1.mutable_top());
  layer.mutable_blobs()->Swap(v0.mutable_blobs());
  if (type == "Convolution" || type == "Im2col") {
    ConvolutionParameter& p = *layer.mutable_convolution_param();
    if (v0.has_num_output()) p.set_num_output(v0.num_output());
    p.set_bias_term(v0.biasterm());
    if (v0.has_pad()) p.add_pad(v0.pad());
    if (v0.has_kernelsize()) p.add_kernel_size(v0.kernelsize());
    if (v0.has_stride()) p.add_stride(v0.stride());
    p.set_group(v0.group());
    if (v0.has_weight_filler())
      p.mutable_weight_filler()->Swap(v0.mutable_weight_filler());
    if (v0.has_bias_filler())
      p.mutable_bias_filler()->Swap(v0.mutable_bias_filler());
  } else if (type == "InnerProduct") {
    InnerProductParameter& p = *layer.mutable_inner_product_param();
    if (v0.has_num_output()) p.set_num_output(v0.num_output());
    p.set_bias_term(v0.biasterm());
    if (v0.has_weight_filler())
      p.mutable_weight_filler()->Swap(v0.mutable_weight_filler());
    if (v0.has_bias_filler())
      p.mutable_bias_filler()->Swap(v0.mutable_bias_filler());
  } else if (type == "Pooling") {
    PoolingParameter& p = *layer.mutable_pooling_param();
    p.set_pool(v0.pool());
    if (v0.has_pad()) p.set_pad(v0.pad());
    if (v0.has_kernelsize()) p.set_kernel_size(v0.kernelsize());
    if (v0.has_stride()) p.set_stride(v0.stride());
  } else if (type == "LRN") {
    LRNParameter& p = *layer.mutable_lrn_param();
    p.set_local_size(v0.local_size());
    p.set_alpha(v0.alpha());
    p.set_beta(v0.beta());
    p.set_k(v0.k());
  } else if (type == "Dropout") {
    layer.mutable_dropout_param()->set_dropout_ratio(v0.dropout_ratio());
  } else if (type == "Concat") {
    layer.mutable_concat_param()->set_concat_dim(v0.concat_dim());
  }
}

void UpgradeV1(V1LayerParameter& v1, LayerParameter& layer) {
  layer.set_name(v1.name());
  layer.set_type(std::string(TypeOfV1(v1.type())));
  layer.mutable_bottom()->Swap(v1.mutable_bottom());
  layer.mutable_top()->Swap(v1.mutable_top());
  layer.mutable_blobs()->Swap(v1.mutable_blobs());
  layer.mutable_include()->Swap(v1.mutable_include());
  layer.mutable_exclude()->Swap(v1.mutable_exclude());
#define EMBER_CAFFE_MOVE(name) \
  if (v1.has_##name()) layer.mutable_##name()->Swap(v1.mutable_##name());
  EMBER_CAFFE_MOVE(argmax_param)
  EMBER_CAFFE_MOVE(concat_param)
  EMBER_CAFFE_MOVE(convolution_param)
  EMBER_CAFFE_MOVE(dropout_param)
  EMBER_CAFFE_MOVE(dummy_data_param)
  EMBER_CAFFE_MOVE(eltwise_param)
  EMBER_CAFFE_MOVE(exp_param)
  EMBER_CAFFE_MOVE(inner_product_param)
  EMBER_CAFFE_MOVE(lrn_param)
  EMBER_CAFFE_MOVE(memory_data_param)
  EMBER_CAFFE_MOVE(mvn_param)
  EMBER_CAFFE_MOVE(pooling_param)
  EMBER_CAFFE_MOVE(power_param)
  EMBER_CAFFE_MOVE(relu_param)
  EMBER_CAFFE_MOVE(softmax_param)
  EMBER_CAFFE_MOVE(slice_param)
  EMBER_CAFFE_MOVE(threshold_param)
#undef EMBER_CAFFE_MOVE
}

// Merges layers of type "padding" into the layers that read their tops.
Status MergePadding(std::vector<LayerParameter>& layers,
                    const std::map<size_t, int64_t>& padding) {
  if (padding.empty()) return OkStatus();
  // Index of the last layer so far that produces each blob. Several layers
  // produce a blob that is computed in place.
  std::map<std::string, size_t> given;
  for (size_t i = 0; i < layers.size(); ++i) {
    LayerParameter& layer = layers[i];
    for (std::string& bottom : *layer.mutable_bottom()) {
      const auto source = given.find(bottom);
      if (source == given.end()) continue;
      const auto pad = padding.find(source->second);
      if (pad == padding.end()) continue;
      if (layer.type() == "Convolution") {
        layer.mutable_convolution_param()->clear_pad();
        layer.mutable_convolution_param()->add_pad(pad->second);
      } else if (layer.type() == "Pooling") {
        layer.mutable_pooling_param()->set_pad(pad->second);
      } else {
        return UnimplementedError(
            "layer '" + OnOneLine(layer.name()) +
            "': expected a convolution or pooling behind a layer of type "
            "padding, found " +
            OnOneLine(layer.type()));
      }
      bottom = layers[source->second].bottom(0);
    }
    for (const std::string& top : layer.top()) given[top] = i;
  }
  std::vector<LayerParameter> kept;
  for (size_t i = 0; i < layers.size(); ++i)
    if (!padding.contains(i)) kept.push_back(std::move(layers[i]));
  layers = std::move(kept);
  return OkStatus();
}

// Adds a layer for inputs that are fields of the net.
Status AddInputLayer(const NetParameter& net,
                     std::vector<LayerParameter>& layers) {
  if (net.input_size() == 0) return OkStatus();
  LayerParameter layer;
  layer.set_name("input");
  layer.set_type("Input");
  const bool by_dim = net.input_shape_size() == 0;
  if (by_dim ? net.input_dim_size() != 4 * net.input_size()
             : net.input_shape_size() != net.input_size()) {
    return InvalidArgumentError(
        "expected 4 values of input_dim or an input_shape for each of " +
        std::to_string(net.input_size()) + " inputs, found " +
        std::to_string(net.input_dim_size()) + " and " +
        std::to_string(net.input_shape_size()));
  }
  for (int i = 0; i < net.input_size(); ++i) {
    layer.add_top(net.input(i));
    BlobShape& shape = *layer.mutable_input_param()->add_shape();
    if (!by_dim) shape = net.input_shape(i);
    for (int d = 0; by_dim && d < 4; ++d)
      shape.add_dim(net.input_dim(4 * i + d));
  }
  layers.push_back(std::move(layer));
  return OkStatus();
}

bool Satisfies(const NetState& state, const NetStateRule& rule) {
  if (rule.has_phase() && rule.phase() != TEST) return false;
  if (rule.has_min_level() && state.level() < rule.min_level()) return false;
  if (rule.has_max_level() && state.level() > rule.max_level()) return false;
  const auto has = [&](const std::string& stage) {
    return std::find(state.stage().begin(), state.stage().end(), stage) !=
           state.stage().end();
  };
  return std::all_of(rule.stage().begin(), rule.stage().end(), has) &&
         std::none_of(rule.not_stage().begin(), rule.not_stage().end(), has);
}

// True if the layer belongs to a net in this state (phase, level, stages): if
// any of its `include` rules applies, or, for a layer without such rules, if
// none of its `exclude` rules does.
bool IsIncluded(const NetState& state, const LayerParameter& layer) {
  const auto satisfies = [&](const NetStateRule& rule) {
    return Satisfies(state, rule);
  };
  if (layer.include_size() > 0) {
    return std::any_of(layer.include().begin(), layer.include().end(),
                       satisfies);
  }
  return std::none_of(layer.exclude().begin(), layer.exclude().end(),
                      satisfies);
}

}  // namespace

std::string_view TypeOfV1(V1LayerParameter::LayerType type) {
  switch (type) {
    case V1LayerParameter::NONE:
      return "";
    case V1LayerParameter::ABSVAL:
      return "AbsVal";
    case V1LayerParameter::ACCURACY:
      return "Accuracy";
    case V1LayerParameter::ARGMAX:
      return "ArgMax";
    case V1LayerParameter::BNLL:
      return "BNLL";
    case V1LayerParameter::CONCAT:
      return "Concat";
    case V1LayerParameter::CONTRASTIVE_LOSS:
      return "ContrastiveLoss";
    case V1LayerParameter::CONVOLUTION:
      return "Convolution";
    case V1LayerParameter::DATA:
      return "Data";
    case V1LayerParameter::DECONVOLUTION:
      return "Deconvolution";
    case V1LayerParameter::DROPOUT:
      return "Dropout";
    case V1LayerParameter::DUMMY_DATA:
      return "DummyData";
    case V1LayerParameter::EUCLIDEAN_LOSS:
      return "EuclideanLoss";
    case V1LayerParameter::ELTWISE:
      return "Eltwise";
    case V1LayerParameter::EXP:
      return "Exp";
    case V1LayerParameter::FLATTEN:
      return "Flatten";
    case V1LayerParameter::HDF5_DATA:
      return "HDF5Data";
    case V1LayerParameter::HDF5_OUTPUT:
      return "HDF5Output";
    case V1LayerParameter::HINGE_LOSS:
      return "HingeLoss";
    case V1LayerParameter::IM2COL:
      return "Im2col";
    case V1LayerParameter::IMAGE_DATA:
      return "ImageData";
    case V1LayerParameter::INFOGAIN_LOSS:
      return "InfogainLoss";
    case V1LayerParameter::INNER_PRODUCT:
      return "InnerProduct";
    case V1LayerParameter::LRN:
      return "LRN";
    case V1LayerParameter::MEMORY_DATA:
      return "MemoryData";
    case V1LayerParameter::MULTINOMIAL_LOGISTIC_LOSS:
      return "MultinomialLogisticLoss";
    case V1LayerParameter::MVN:
      return "MVN";
    case V1LayerParameter::POOLING:
      return "Pooling";
    case V1LayerParameter::POWER:
      return "Power";
    case V1LayerParameter::RELU:
      return "ReLU";
    case V1LayerParameter::SIGMOID:
      return "Sigmoid";
    case V1LayerParameter::SIGMOID_CROSS_ENTROPY_LOSS:
      return "SigmoidCrossEntropyLoss";
    case V1LayerParameter::SILENCE:
      return "Silence";
    case V1LayerParameter::SOFTMAX:
      return "Softmax";
    case V1LayerParameter::SOFTMAX_LOSS:
      return "SoftmaxWithLoss";
    case V1LayerParameter::SPLIT:
      return "Split";
    case V1LayerParameter::SLICE:
      return "Slice";
    case V1LayerParameter::TANH:
      return "TanH";
    case V1LayerParameter::WINDOW_DATA:
      return "WindowData";
    case V1LayerParameter::THRESHOLD:
      return "Threshold";
  }
  return "";
}

StatusOr<std::vector<LayerParameter>> UpgradedLayers(NetParameter& net) {
  if (net.layer_size() > 0 && net.layers_size() > 0) {
    return InvalidArgumentError(
        "expected a net of fields 'layer' or 'layers', found both");
  }
  std::vector<LayerParameter> layers;
  EMBER_RETURN_IF_ERROR(AddInputLayer(net, layers));
  for (LayerParameter& layer : *net.mutable_layer())
    layers.push_back(std::move(layer));
  std::map<size_t, int64_t> padding;
  for (V1LayerParameter& v1 : *net.mutable_layers()) {
    LayerParameter& layer = layers.emplace_back();
    if (!v1.has_layer()) {
      UpgradeV1(v1, layer);
      continue;
    }
    const V0LayerParameter& v0 = v1.layer();
    if (v0.type() == "padding") {
      if (v1.bottom_size() != 1 || v1.top_size() != 1) {
        return InvalidArgumentError("layer '" + OnOneLine(v0.name()) +
                                    "': expected one bottom and one top of a "
                                    "layer of type padding, found " +
                                    std::to_string(v1.bottom_size()) + " and " +
                                    std::to_string(v1.top_size()));
      }
      padding[layers.size() - 1] = v0.pad();
    }
    UpgradeV0(v1, layer);
  }
  EMBER_RETURN_IF_ERROR(MergePadding(layers, padding));
  std::erase_if(layers, [&](const LayerParameter& layer) {
    return !IsIncluded(net.state(), layer);
  });
  return layers;
}

}  // namespace ember::caffe
