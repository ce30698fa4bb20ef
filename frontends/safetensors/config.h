// Reads the numbers of a language model from the config.json of Hugging Face's
// transformers.
//
//   EMBER_ASSIGN_OR_RETURN(const ModelConfig config, ReadConfig(text));
//
// Errors name the key: one that is missing, of another type or out of range; a
// class that is not known, with the list of those that are. Thread-safe.
#ifndef EMBER_FRONTENDS_SAFETENSORS_CONFIG_H_
#define EMBER_FRONTENDS_SAFETENSORS_CONFIG_H_

#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/language_models/model_options.h"

namespace ember::safetensors {

struct ModelConfig {
  language_models::ModelOptions options;
  // Factors by which the frequencies of rotary positions are divided in short
  // and long contexts (Phi-3); empty if there are none.
  std::vector<float> short_factors, long_factors;
};

StatusOr<ModelConfig> ReadConfig(std::string_view text);

}  // namespace ember::safetensors

#endif  // EMBER_FRONTENDS_SAFETENSORS_CONFIG_H_
