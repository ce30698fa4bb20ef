// Makes models as Hugging Face's transformers store them, from the sample GGUF
// models: the same weights under other names and in other orders.
//
//   const HubModel model = MakeHubModel("gpt2");
//   Import(model.config, model.weights);
//
// The logits must be those of SampleModel(name).
#ifndef EMBER_FRONTENDS_SAFETENSORS_TESTING_HUB_MODEL_H_
#define EMBER_FRONTENDS_SAFETENSORS_TESTING_HUB_MODEL_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ember::safetensors {

struct HubModel {
  std::string config;   // the text of config.json
  std::string weights;  // the safetensors file
};

// Returns the names of the sample GGUF models for which there is a HubModel.
std::span<const std::string_view> HubModelNames();
HubModel MakeHubModel(std::string_view name);

// A tensor of f32 for WriteSafetensors.
struct HubTensor {
  std::vector<int64_t> dims;
  std::vector<float> values;
};
// Returns the bytes of a safetensors file.
std::string WriteSafetensors(const std::map<std::string, HubTensor>& tensors);

}  // namespace ember::safetensors

#endif  // EMBER_FRONTENDS_SAFETENSORS_TESTING_HUB_MODEL_H_
