#include "frontends/gguf/model_metadata.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/one_line.h"

namespace ember::gguf {
namespace {

using language_models::Architecture;
using language_models::LayerOptions;
using language_models::ModelOptions;
using language_models::Norm;
using language_models::Pooling;
using language_models::Positions;
using language_models::RotaryOptions;
using language_models::RotaryScaling;

constexpr int64_t kMaxLayers = 4096;

// The metadata of one architecture: keys without the architecture's name.
class Keys {
 public:
  Keys(const GgufFile& file, std::string_view architecture)
      : file_(file), prefix_(std::string(architecture) + ".") {}

  bool Has(std::string_view key) const { return file_.Has(Full(key)); }
  StatusOr<int64_t> Integer(std::string_view key) const {
    return file_.Integer(Full(key));
  }
  StatusOr<int64_t> IntegerOr(std::string_view key, int64_t otherwise) const {
    return file_.IntegerOr(Full(key), otherwise);
  }
  StatusOr<double> NumberOr(std::string_view key, double otherwise) const {
    return file_.NumberOr(Full(key), otherwise);
  }
  StatusOr<std::string_view> TextOr(std::string_view key,
                                    std::string_view otherwise) const {
    return file_.TextOr(Full(key), otherwise);
  }
  // Reads one number for all layers, or an array with one for each layer.
  StatusOr<std::vector<int64_t>> PerLayer(std::string_view key,
                                          size_t layers) const;

 private:
  std::string Full(std::string_view key) const {
    return prefix_ + std::string(key);
  }

  const GgufFile& file_;
  std::string prefix_;
};

StatusOr<std::vector<int64_t>> Keys::PerLayer(std::string_view key,
                                              size_t layers) const {
  const auto value = file_.metadata().find(Full(key));
  if (value == file_.metadata().end() || !value->second.is_array) {
    EMBER_ASSIGN_OR_RETURN(const int64_t one, Integer(key));
    return std::vector<int64_t>(layers, one);
  }
  EMBER_ASSIGN_OR_RETURN(std::vector<int64_t> all, file_.Integers(Full(key)));
  if (all.size() == layers) return all;
  return InvalidArgumentError("metadata '" + OnOneLine(Full(key)) +
                              "': expected " + std::to_string(layers) +
                              " numbers, one for each layer, found " +
                              std::to_string(all.size()));
}

StatusOr<const Architecture*> FindArchitectureOf(const GgufFile& file) {
  EMBER_ASSIGN_OR_RETURN(const std::string_view name,
                         file.Text("general.architecture"));
  const Architecture* found = language_models::FindArchitecture(name);
  if (found != nullptr) return found;
  return UnimplementedError("architecture: expected one of " +
                            language_models::ArchitectureNames() + ", found '" +
                            OnOneLine(name.substr(0, 100)) + "'");
}

Status ReadScaling(const Keys& keys, RotaryOptions& rotary) {
  EMBER_ASSIGN_OR_RETURN(const std::string_view type,
                         keys.TextOr("rope.scaling.type", "none"));
  EMBER_ASSIGN_OR_RETURN(rotary.factor,
                         keys.NumberOr("rope.scaling.factor", 1));
  if (!keys.Has("rope.scaling.factor")) {
    EMBER_ASSIGN_OR_RETURN(rotary.factor,
                           keys.NumberOr("rope.scale_linear", 1));
    if (rotary.factor != 1) rotary.scaling = RotaryScaling::kLinear;
  }
  EMBER_ASSIGN_OR_RETURN(
      rotary.original_context,
      keys.IntegerOr("rope.scaling.original_context_length", 0));
  EMBER_ASSIGN_OR_RETURN(rotary.attention_factor,
                         keys.NumberOr("rope.scaling.attn_factor", 1));
  if (type == "linear") {
    rotary.scaling = RotaryScaling::kLinear;
  } else if (type == "yarn") {
    rotary.scaling = RotaryScaling::kYarn;
    EMBER_ASSIGN_OR_RETURN(rotary.fast,
                           keys.NumberOr("rope.scaling.yarn_beta_fast", 32));
    EMBER_ASSIGN_OR_RETURN(rotary.slow,
                           keys.NumberOr("rope.scaling.yarn_beta_slow", 1));
  } else if (type != "none" && type != "longrope") {
    // For "longrope" there is nothing to read here: its factors are tensors of
    // the file.
    return UnimplementedError(
        "metadata 'rope.scaling.type': expected none, linear, yarn or "
        "longrope, found '" +
        OnOneLine(type.substr(0, 100)) + "'");
  }
  return OkStatus();
}

Status ReadRotary(const Keys& keys, ModelOptions& options) {
  RotaryOptions& rotary = options.rotary;
  EMBER_ASSIGN_OR_RETURN(
      rotary.dims, keys.IntegerOr("rope.dimension_count", options.key_size));
  EMBER_ASSIGN_OR_RETURN(rotary.base, keys.NumberOr("rope.freq_base", 10000));
  EMBER_RETURN_IF_ERROR(ReadScaling(keys, rotary));
  if (rotary.original_context == 0) rotary.original_context = options.context;
  options.window_rotary = rotary;
  const double own = options.architecture->window_rotary_base;
  if (own == 0) return OkStatus();
  // Layers with sliding-window attention have their own rotary base, and none
  // of the scaling for long contexts.
  options.window_rotary = {.dims = rotary.dims,
                           .original_context = options.context};
  EMBER_ASSIGN_OR_RETURN(options.window_rotary.base,
                         keys.NumberOr("rope.freq_base_swa", own));
  return OkStatus();
}

Status ReadLayers(const Keys& keys, ModelOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const int64_t layers, keys.Integer("block_count"));
  if (layers < 1 || layers > kMaxLayers) {
    return InvalidArgumentError(
        "metadata 'block_count': expected 1 to 4096, found " +
        std::to_string(layers));
  }
  const auto count = static_cast<size_t>(layers);
  EMBER_ASSIGN_OR_RETURN(const std::vector<int64_t> heads,
                         keys.PerLayer("attention.head_count", count));
  std::vector<int64_t> kv_heads = heads;
  if (keys.Has("attention.head_count_kv")) {
    EMBER_ASSIGN_OR_RETURN(kv_heads,
                           keys.PerLayer("attention.head_count_kv", count));
  }
  EMBER_ASSIGN_OR_RETURN(const int64_t window,
                         keys.IntegerOr("attention.sliding_window", 0));
  const int64_t period = options.architecture->window_period;
  for (int64_t i = 0; i < layers; ++i) {
    const bool is_windowed = period == 1 || i % period != period - 1;
    options.layers.push_back({heads[static_cast<size_t>(i)],
                              kv_heads[static_cast<size_t>(i)],
                              is_windowed ? window : 0});
  }
  return OkStatus();
}

// Reads the sizes of a head's keys and values, and the scale of attention
// scores. By default a head has width / heads elements.
Status ReadHeadSizes(const Keys& keys, ModelOptions& options) {
  int64_t share = 0;
  for (const LayerOptions& layer : options.layers)
    if (share == 0 && layer.heads > 0) share = options.width / layer.heads;
  EMBER_ASSIGN_OR_RETURN(options.key_size,
                         keys.IntegerOr("attention.key_length", share));
  EMBER_ASSIGN_OR_RETURN(
      options.value_size,
      keys.IntegerOr("attention.value_length", options.key_size));
  EMBER_ASSIGN_OR_RETURN(options.attention_scale,
                         keys.NumberOr("attention.scale", 0));
  // The largest models of Gemma 2 and 3 scale attention scores by 1 /
  // sqrt(width / heads) instead of by the key size. The file does not say so;
  // as in llama.cpp, the number of layers identifies these models.
  const std::string_view name = options.architecture->name;
  const size_t layers = options.layers.size();
  if ((name == "gemma2" && layers == 46) || (name == "gemma3" && layers == 62))
    options.attention_scale = 1 / std::sqrt(static_cast<double>(share));
  return OkStatus();
}

Status ReadExperts(const Keys& keys, ModelOptions& options) {
  EMBER_ASSIGN_OR_RETURN(options.experts, keys.IntegerOr("expert_count", 0));
  EMBER_ASSIGN_OR_RETURN(options.used_experts,
                         keys.IntegerOr("expert_used_count", 0));
  EMBER_ASSIGN_OR_RETURN(
      const int64_t normalizes,
      keys.IntegerOr("expert_weights_norm",
                     options.architecture->normalizes_experts ? 1 : 0));
  options.normalizes_experts = normalizes != 0;
  return OkStatus();
}

StatusOr<Pooling> ReadPooling(const Keys& keys) {
  EMBER_ASSIGN_OR_RETURN(const int64_t type, keys.IntegerOr("pooling_type", 0));
  constexpr Pooling kTypes[] = {Pooling::kNone, Pooling::kMean, Pooling::kFirst,
                                Pooling::kLast};
  if (type >= 0 && type < static_cast<int64_t>(std::size(kTypes)))
    return kTypes[type];
  return UnimplementedError(
      "metadata 'pooling_type': expected 0 (none), 1 (mean), 2 (first) or 3 "
      "(last), found " +
      std::to_string(type));
}

}  // namespace

StatusOr<ModelOptions> ReadModelOptions(const GgufFile& file) {
  ModelOptions options;
  EMBER_ASSIGN_OR_RETURN(options.architecture, FindArchitectureOf(file));
  const Architecture& architecture = *options.architecture;
  const Keys keys(file, architecture.name);
  EMBER_ASSIGN_OR_RETURN(const int64_t split, file.IntegerOr("split.count", 1));
  if (split > 1) {
    return UnimplementedError(
        "metadata 'split.count': expected one file, found " +
        std::to_string(split) +
        "; join them with llama-gguf-split --merge FIRST OUT");
  }
  EMBER_ASSIGN_OR_RETURN(const std::string_view name,
                         file.TextOr("general.name", architecture.name));
  options.name = OnOneLine(name.substr(0, 200));
  options.positions = architecture.positions;
  EMBER_ASSIGN_OR_RETURN(options.width, keys.Integer("embedding_length"));
  EMBER_ASSIGN_OR_RETURN(options.context, keys.Integer("context_length"));
  EMBER_RETURN_IF_ERROR(ReadLayers(keys, options));
  EMBER_RETURN_IF_ERROR(ReadHeadSizes(keys, options));
  EMBER_ASSIGN_OR_RETURN(options.epsilon,
                         keys.NumberOr(architecture.norm == Norm::kRms
                                           ? "attention.layer_norm_rms_epsilon"
                                           : "attention.layer_norm_epsilon",
                                       options.epsilon));
  EMBER_ASSIGN_OR_RETURN(
      options.score_cap,
      keys.NumberOr("attn_logit_softcapping", architecture.score_cap));
  EMBER_ASSIGN_OR_RETURN(
      options.logit_cap,
      keys.NumberOr("final_logit_softcapping", architecture.logit_cap));
  EMBER_RETURN_IF_ERROR(ReadRotary(keys, options));
  EMBER_RETURN_IF_ERROR(ReadExperts(keys, options));
  EMBER_ASSIGN_OR_RETURN(options.convolution,
                         keys.IntegerOr("shortconv.l_cache", 0));
  EMBER_ASSIGN_OR_RETURN(options.pooling, ReadPooling(keys));
  EMBER_RETURN_IF_ERROR(CheckOptions(options));
  return options;
}

}  // namespace ember::gguf
