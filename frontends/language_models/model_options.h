// The numbers of one language model, which a format's reader fills from the
// model's metadata and the graph builder uses.
//
//   ModelOptions options{.architecture = FindArchitecture("llama")};
//   options.layers = std::vector<LayerOptions>(5, {.heads = 8, .kv_heads = 4});
//   EMBER_RETURN_IF_ERROR(CheckOptions(options));
//
// The numbers come from files of strangers; CheckOptions refuses those that are
// out of range, so that the builder may compute with them.
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_MODEL_OPTIONS_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_MODEL_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/language_models/architectures.h"

namespace ember::language_models {

// The rule by which rotary positions are stretched beyond the context that a
// model was trained with.
enum class RotaryScaling : uint8_t {
  kNone,
  // Linear scaling: the position is divided by the factor.
  kLinear,
  // YaRN (Peng et al., 2023): frequencies of slow rotations are divided by the
  // factor, those of fast ones are kept.
  kYarn,
  // The rule of Llama 3.1: a frequency is divided by the factor, kept or
  // interpolated, depending on its wavelength relative to the original context.
  kLlama3,
};

struct RotaryOptions {
  // Number of elements of a head that are rotated; even.
  int64_t dims = 0;
  double base = 10000;
  RotaryScaling scaling = RotaryScaling::kNone;
  double factor = 1;
  // Number of positions that the model was trained with before its context was
  // stretched.
  int64_t original_context = 0;
  // Factor of cosine and sine. YaRN multiplies it by a further factor, which
  // depends on the logarithm of the scaling factor.
  double attention_factor = 1;
  // Bounds between fast and slow rotations. For YaRN: numbers of rotations over
  // the original context; for Llama 3.1: its high_freq_factor and
  // low_freq_factor.
  double fast = 32, slow = 1;
};

struct LayerOptions {
  int64_t heads = 0;
  // Number of heads of keys and values. 0: the layer is a short convolution
  // instead of attention.
  int64_t kv_heads = 0;
  // Number of last positions that a query sees, its own included; 0: all.
  int64_t window = 0;
};

// The rule by which an encoder makes one embedding of those of its tokens.
enum class Pooling : uint8_t { kNone, kMean, kFirst, kLast };

struct ModelOptions {
  const Architecture* architecture = nullptr;
  // Kind of the positions. It is that of the architecture, unless the format
  // stores the rows of queries and keys in the order of the other kind of
  // rotary pairs.
  Positions positions = Positions::kRotaryHalves;
  std::string name;
  int64_t width = 0;    // number of elements of a token's embedding
  int64_t context = 0;  // number of positions that the model was trained with
  std::vector<LayerOptions> layers;
  // Number of elements of a head's key, and of its value.
  int64_t key_size = 0, value_size = 0;
  double epsilon = 1e-5;
  // Factor of scores; 0 means 1 / sqrt(key_size).
  double attention_scale = 0;
  // Soft caps c * tanh(x / c) of scores and logits; 0 means none.
  double score_cap = 0, logit_cap = 0;
  RotaryOptions rotary;
  // Rotary positions of layers with a window.
  RotaryOptions window_rotary;
  int64_t experts = 0, used_experts = 0;
  bool normalizes_experts = false;
  // Number of positions that the filter of a short convolution covers; 0 if the
  // model has no such layers.
  int64_t convolution = 0;
  Pooling pooling = Pooling::kNone;
};

// Checks ranges: counts and sizes, heads that are multiples of key heads.
Status CheckOptions(const ModelOptions& options);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_MODEL_OPTIONS_H_
