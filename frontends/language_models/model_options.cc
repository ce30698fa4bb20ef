#include "frontends/language_models/model_options.h"

#include <cmath>

namespace ember::language_models {
namespace {

// Largest number of anything that is counted in a model: far more than models
// have, and small enough that products of two such numbers fit 64 bits.
constexpr int64_t kMax = int64_t{1} << 30;
constexpr size_t kMaxLayers = 4096;

Status CheckRange(const char* what, int64_t value, int64_t least) {
  if (value >= least && value <= kMax) return OkStatus();
  return InvalidArgumentError(std::string(what) + ": expected " +
                              std::to_string(least) + " to 2^30, found " +
                              std::to_string(value));
}

Status CheckPositive(const char* what, double value) {
  if (std::isfinite(value) && value > 0) return OkStatus();
  return InvalidArgumentError(std::string(what) +
                              ": expected a finite number above 0, found " +
                              std::to_string(value));
}

Status CheckRotary(const RotaryOptions& rotary, int64_t key_size) {
  EMBER_RETURN_IF_ERROR(CheckRange("rotary dims", rotary.dims, 2));
  if (rotary.dims % 2 != 0 || rotary.dims > key_size) {
    return InvalidArgumentError(
        "rotary dims: expected an even number of at most " +
        std::to_string(key_size) + ", found " + std::to_string(rotary.dims));
  }
  EMBER_RETURN_IF_ERROR(CheckPositive("base of rotary positions", rotary.base));
  EMBER_RETURN_IF_ERROR(
      CheckPositive("factor of rotary positions", rotary.factor));
  EMBER_RETURN_IF_ERROR(
      CheckPositive("attention factor", rotary.attention_factor));
  EMBER_RETURN_IF_ERROR(CheckPositive("fast bound of rotary", rotary.fast));
  EMBER_RETURN_IF_ERROR(CheckPositive("slow bound of rotary", rotary.slow));
  const bool needs_context = rotary.scaling == RotaryScaling::kYarn ||
                             rotary.scaling == RotaryScaling::kLlama3;
  return CheckRange("original context of rotary positions",
                    rotary.original_context, needs_context ? 1 : 0);
}

Status CheckLayer(const LayerOptions& layer, const ModelOptions& options) {
  EMBER_RETURN_IF_ERROR(CheckRange("window", layer.window, 0));
  EMBER_RETURN_IF_ERROR(CheckRange("key heads", layer.kv_heads, 0));
  if (layer.kv_heads == 0)
    return CheckRange("positions of a short convolution", options.convolution,
                      2);
  EMBER_RETURN_IF_ERROR(CheckRange("heads", layer.heads, 1));
  if (layer.heads % layer.kv_heads != 0) {
    return InvalidArgumentError(
        "heads: expected a multiple of the " + std::to_string(layer.kv_heads) +
        " key heads, found " + std::to_string(layer.heads));
  }
  return OkStatus();
}

}  // namespace

Status CheckOptions(const ModelOptions& options) {
  EMBER_RETURN_IF_ERROR(CheckRange("width", options.width, 1));
  EMBER_RETURN_IF_ERROR(CheckRange("context", options.context, 1));
  EMBER_RETURN_IF_ERROR(CheckRange("key size", options.key_size, 1));
  EMBER_RETURN_IF_ERROR(CheckRange("value size", options.value_size, 1));
  EMBER_RETURN_IF_ERROR(CheckPositive("epsilon", options.epsilon));
  EMBER_RETURN_IF_ERROR(CheckRange("experts", options.experts, 0));
  if (options.experts > 0 &&
      (options.used_experts < 1 || options.used_experts > options.experts)) {
    return InvalidArgumentError("used experts: expected 1 to " +
                                std::to_string(options.experts) + ", found " +
                                std::to_string(options.used_experts));
  }
  for (const double cap :
       {options.score_cap, options.logit_cap, options.attention_scale}) {
    if (std::isfinite(cap) && cap >= 0) continue;
    return InvalidArgumentError(
        "soft caps and scale: expected finite numbers that are not negative");
  }
  if (options.layers.empty() || options.layers.size() > kMaxLayers) {
    return InvalidArgumentError("layers: expected 1 to 4096, found " +
                                std::to_string(options.layers.size()));
  }
  if (options.positions != Positions::kLearned) {
    for (const RotaryOptions* rotary :
         {&options.rotary, &options.window_rotary})
      EMBER_RETURN_IF_ERROR(CheckRotary(*rotary, options.key_size));
  }
  for (const LayerOptions& layer : options.layers)
    EMBER_RETURN_IF_ERROR(CheckLayer(layer, options));
  return OkStatus();
}

}  // namespace ember::language_models
