#include "frontends/safetensors/config.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/one_line.h"
#include "frontends/json_text.h"

namespace ember::safetensors {
namespace {

using language_models::Architecture;
using language_models::ModelOptions;
using language_models::Positions;
using language_models::RotaryOptions;
using language_models::RotaryScaling;
using nlohmann::json;

constexpr int64_t kMaxLayers = 4096;
constexpr size_t kMaxFactors = 4096;

Status WrongKey(std::string_view key, std::string_view expected) {
  return InvalidArgumentError("config.json: '" + std::string(key) +
                              "': expected " + std::string(expected));
}

// Reads the values of a JSON object by key, with types checked. A null value
// counts as a missing key.
class Keys {
 public:
  explicit Keys(const json& object) : object_(object) {}

  const json* Find(std::string_view key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  // Returns `a` if the object has this key, else `b`.
  std::string_view Either(std::string_view a, std::string_view b) const {
    return Find(a) != nullptr ? a : b;
  }
  StatusOr<int64_t> Integer(std::string_view key) const;
  StatusOr<int64_t> IntegerOr(std::string_view key, int64_t otherwise) const {
    if (Find(key) == nullptr) return otherwise;
    return Integer(key);
  }
  StatusOr<double> NumberOr(std::string_view key, double otherwise) const;
  StatusOr<bool> BoolOr(std::string_view key, bool otherwise) const;
  StatusOr<std::string> TextOr(std::string_view key,
                               const std::string& otherwise) const;
  StatusOr<std::vector<float>> Factors(std::string_view key) const;

 private:
  const json& object_;
};

StatusOr<int64_t> Keys::Integer(std::string_view key) const {
  const json* value = Find(key);
  if (value == nullptr || !value->is_number_integer() ||
      (value->is_number_unsigned() && value->get<uint64_t>() >> 62 != 0))
    return WrongKey(key, "an integer");
  return value->get<int64_t>();
}

StatusOr<double> Keys::NumberOr(std::string_view key, double otherwise) const {
  const json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number()) return WrongKey(key, "a number");
  return value->get<double>();
}

StatusOr<bool> Keys::BoolOr(std::string_view key, bool otherwise) const {
  const json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) return WrongKey(key, "true or false");
  return value->get<bool>();
}

StatusOr<std::string> Keys::TextOr(std::string_view key,
                                   const std::string& otherwise) const {
  const json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) return WrongKey(key, "a string");
  return OnOneLine(value->get_ref<const std::string&>().substr(0, 200));
}

StatusOr<std::vector<float>> Keys::Factors(std::string_view key) const {
  std::vector<float> factors;
  const json* value = Find(key);
  if (value == nullptr || !value->is_array() || value->size() > kMaxFactors)
    return WrongKey(key, "an array of numbers");
  for (const json& item : *value) {
    if (!item.is_number()) return WrongKey(key, "an array of numbers");
    factors.push_back(item.get<float>());
  }
  return factors;
}

StatusOr<const Architecture*> FindClass(const Keys& keys) {
  const json* list = keys.Find("architectures");
  std::string name;
  if (list != nullptr && list->is_array() && !list->empty() &&
      list->front().is_string())
    name = list->front().get<std::string>();
  const Architecture* found = language_models::FindArchitectureOfClass(name);
  if (found != nullptr) return found;
  std::string known;
  for (const Architecture& row : language_models::Architectures()) {
    if (row.hf_class.empty()) continue;
    known += (known.empty() ? "" : ", ") + std::string(row.hf_class);
  }
  return UnimplementedError("config.json: 'architectures': expected one of " +
                            known + ", found '" +
                            OnOneLine(name.substr(0, 100)) + "'");
}

Status ReadScaling(const Keys& keys, ModelConfig& config) {
  RotaryOptions& rotary = config.options.rotary;
  const json* object = keys.Find("rope_scaling");
  if (object == nullptr) return OkStatus();
  if (!object->is_object()) return WrongKey("rope_scaling", "an object");
  const Keys scaling(*object);
  EMBER_ASSIGN_OR_RETURN(
      const std::string type,
      scaling.TextOr(scaling.Either("rope_type", "type"), "default"));
  if (type == "default") return OkStatus();
  EMBER_ASSIGN_OR_RETURN(rotary.factor, scaling.NumberOr("factor", 1));
  EMBER_ASSIGN_OR_RETURN(rotary.original_context,
                         scaling.IntegerOr("original_max_position_embeddings",
                                           rotary.original_context));
  if (type == "linear") {
    rotary.scaling = RotaryScaling::kLinear;
  } else if (type == "yarn") {
    rotary.scaling = RotaryScaling::kYarn;
    EMBER_ASSIGN_OR_RETURN(rotary.fast, scaling.NumberOr("beta_fast", 32));
    EMBER_ASSIGN_OR_RETURN(rotary.slow, scaling.NumberOr("beta_slow", 1));
  } else if (type == "llama3") {
    rotary.scaling = RotaryScaling::kLlama3;
    EMBER_ASSIGN_OR_RETURN(rotary.slow, scaling.NumberOr("low_freq_factor", 1));
    EMBER_ASSIGN_OR_RETURN(rotary.fast,
                           scaling.NumberOr("high_freq_factor", 4));
  } else if (type == "longrope" || type == "su") {
    EMBER_ASSIGN_OR_RETURN(config.short_factors,
                           scaling.Factors("short_factor"));
    EMBER_ASSIGN_OR_RETURN(config.long_factors, scaling.Factors("long_factor"));
    const double stretched = static_cast<double>(config.options.context) /
                             static_cast<double>(rotary.original_context);
    if (stretched > 1) {
      rotary.attention_factor = std::sqrt(
          1 + std::log(stretched) /
                  std::log(static_cast<double>(rotary.original_context)));
    }
  } else {
    return UnimplementedError(
        "config.json: 'rope_scaling': expected linear, yarn, llama3 or "
        "longrope, found '" +
        type + "'");
  }
  return OkStatus();
}

Status ReadRotary(const Keys& keys, ModelConfig& config) {
  ModelOptions& options = config.options;
  RotaryOptions& rotary = options.rotary;
  EMBER_ASSIGN_OR_RETURN(rotary.base, keys.NumberOr("rope_theta", 10000));
  const double share_of_stablelm =
      options.architecture->name == "stablelm" ? 0.25 : 1;
  EMBER_ASSIGN_OR_RETURN(
      const double share,
      keys.NumberOr("partial_rotary_factor", share_of_stablelm));
  if (!(share > 0 && share <= 1))
    return WrongKey("partial_rotary_factor", "a number above 0, at most 1");
  rotary.dims =
      static_cast<int64_t>(share * static_cast<double>(options.key_size));
  EMBER_ASSIGN_OR_RETURN(
      rotary.original_context,
      keys.IntegerOr("original_max_position_embeddings", options.context));
  if (rotary.original_context < 1)
    return WrongKey("original_max_position_embeddings", "1 or more");
  EMBER_RETURN_IF_ERROR(ReadScaling(keys, config));
  options.window_rotary = rotary;
  const double own = options.architecture->window_rotary_base;
  if (own == 0) return OkStatus();
  options.window_rotary = {.dims = rotary.dims,
                           .original_context = options.context};
  EMBER_ASSIGN_OR_RETURN(options.window_rotary.base,
                         keys.NumberOr("rope_local_base_freq", own));
  return OkStatus();
}

// Reads each layer's heads and its kind: a sliding window, all positions, or a
// short convolution.
Status ReadLayers(const Keys& keys, ModelOptions& options) {
  EMBER_ASSIGN_OR_RETURN(
      const int64_t layers,
      keys.Integer(keys.Either("num_hidden_layers", "n_layer")));
  if (layers < 1 || layers > kMaxLayers)
    return WrongKey("num_hidden_layers", "1 to 4096");
  EMBER_ASSIGN_OR_RETURN(
      const int64_t heads,
      keys.Integer(keys.Either("num_attention_heads", "n_head")));
  EMBER_ASSIGN_OR_RETURN(
      int64_t kv_heads,
      keys.IntegerOr(keys.Either("num_key_value_heads", "num_kv_heads"),
                     heads));
  EMBER_ASSIGN_OR_RETURN(const bool is_multi_query,
                         keys.BoolOr("multi_query", false));
  EMBER_ASSIGN_OR_RETURN(const bool is_new_falcon,
                         keys.BoolOr("new_decoder_architecture", false));
  if (is_multi_query && !is_new_falcon) kv_heads = 1;
  EMBER_ASSIGN_OR_RETURN(int64_t window, keys.IntegerOr("sliding_window", 0));
  EMBER_ASSIGN_OR_RETURN(const bool uses_window,
                         keys.BoolOr("use_sliding_window", window > 0));
  if (!uses_window) window = 0;
  const int64_t period = options.architecture->window_period;
  const json* types = keys.Find("layer_types");
  if (types != nullptr &&
      (!types->is_array() || types->size() != static_cast<size_t>(layers)))
    return WrongKey("layer_types", "one type for each layer");
  for (int64_t i = 0; i < layers; ++i) {
    bool is_windowed = period == 1 || i % period != period - 1;
    bool is_convolution = false;
    if (types != nullptr) {
      const json& type = (*types)[static_cast<size_t>(i)];
      if (!type.is_string()) return WrongKey("layer_types", "strings");
      is_windowed = type == "sliding_attention";
      is_convolution = type == "conv";
    }
    options.layers.push_back(
        {heads, is_convolution ? 0 : kv_heads, is_windowed ? window : 0});
  }
  return OkStatus();
}

Status ReadHeads(const Keys& keys, ModelOptions& options) {
  const int64_t heads = options.layers.front().heads;
  const int64_t share = heads > 0 ? options.width / heads : 0;
  EMBER_ASSIGN_OR_RETURN(options.key_size, keys.IntegerOr("head_dim", share));
  options.value_size = options.key_size;
  EMBER_ASSIGN_OR_RETURN(const double scalar,
                         keys.NumberOr("query_pre_attn_scalar", 0));
  if (scalar > 0) options.attention_scale = 1 / std::sqrt(scalar);
  return OkStatus();
}

Status ReadExperts(const Keys& keys, ModelOptions& options) {
  EMBER_ASSIGN_OR_RETURN(
      options.experts,
      keys.IntegerOr(keys.Either("num_local_experts", "num_experts"), 0));
  EMBER_ASSIGN_OR_RETURN(options.used_experts,
                         keys.IntegerOr("num_experts_per_tok", 0));
  EMBER_ASSIGN_OR_RETURN(
      options.normalizes_experts,
      keys.BoolOr("norm_topk_prob", options.architecture->normalizes_experts));
  return OkStatus();
}

Status CheckPlain(const Keys& keys) {
  if (keys.Find("quantization_config") != nullptr) {
    return UnimplementedError(
        "config.json: 'quantization_config': expected weights that are not "
        "quantized; give the original model, or a GGUF file");
  }
  EMBER_ASSIGN_OR_RETURN(const bool alibi, keys.BoolOr("alibi", false));
  if (!alibi) return OkStatus();
  return UnimplementedError(
      "config.json: 'alibi': expected rotary positions, found ALiBi");
}

Status ReadOptions(const Keys& keys, ModelConfig& config) {
  ModelOptions& options = config.options;
  const Architecture& architecture = *options.architecture;
  options.name = std::string(architecture.name);
  // In all of these models a rotary pair consists of elements that are half a
  // head apart, whatever order GGUF uses.
  options.positions = architecture.positions == Positions::kLearned
                          ? Positions::kLearned
                          : Positions::kRotaryHalves;
  EMBER_ASSIGN_OR_RETURN(options.width,
                         keys.Integer(keys.Either("hidden_size", "n_embd")));
  EMBER_ASSIGN_OR_RETURN(
      options.context,
      keys.IntegerOr(keys.Either("max_position_embeddings", "n_positions"),
                     2048));
  EMBER_RETURN_IF_ERROR(ReadLayers(keys, options));
  EMBER_RETURN_IF_ERROR(ReadHeads(keys, options));
  for (const std::string_view key :
       {"rms_norm_eps", "norm_eps", "layer_norm_eps", "layer_norm_epsilon"}) {
    EMBER_ASSIGN_OR_RETURN(options.epsilon,
                           keys.NumberOr(key, options.epsilon));
  }
  EMBER_ASSIGN_OR_RETURN(options.score_cap,
                         keys.NumberOr("attn_logit_softcapping", 0));
  EMBER_ASSIGN_OR_RETURN(options.logit_cap,
                         keys.NumberOr("final_logit_softcapping", 0));
  EMBER_RETURN_IF_ERROR(ReadRotary(keys, config));
  EMBER_RETURN_IF_ERROR(ReadExperts(keys, options));
  EMBER_ASSIGN_OR_RETURN(options.convolution,
                         keys.IntegerOr("conv_L_cache", 0));
  return CheckOptions(options).WithContext("config.json");
}

}  // namespace

StatusOr<ModelConfig> ReadConfig(std::string_view text) {
  EMBER_ASSIGN_OR_RETURN(
      const json object,
      frontends::ParseJsonText(
          text, "config.json",
          {.infinity = "1e308", .negative_infinity = "-1e308", .nan = "null"}));
  if (!object.is_object())
    return DataLossError("config.json: expected an object");
  const Keys keys(object);
  ModelConfig config;
  EMBER_ASSIGN_OR_RETURN(config.options.architecture, FindClass(keys));
  EMBER_RETURN_IF_ERROR(CheckPlain(keys));
  EMBER_RETURN_IF_ERROR(ReadOptions(keys, config));
  return config;
}

}  // namespace ember::safetensors
