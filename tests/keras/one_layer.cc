#include "tests/keras/one_layer.h"

#include <utility>

#include "frontends/keras/import.h"
#include "tests/formats/numbers.h"

namespace ember::tests {

StatusOr<std::vector<Numbers>> RunKerasFile(
    const std::string& file, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options) {
  return RunOnNumbers(
      keras::ImportModelBytes(
          {reinterpret_cast<const uint8_t*>(file.data()), file.size()}, nullptr,
          options),
      inputs);
}

OneLayer& OneLayer::Input(Numbers value) {
  inputs_.push_back(std::move(value));
  return *this;
}

OneLayer& OneLayer::Weight(Numbers value) {
  weights_.push_back(std::move(value));
  return *this;
}

std::string OneLayer::File() const {
  keras::ModelBuilder model;
  model.Version(version_);
  std::string operands;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    std::string name = "x" + std::to_string(i);
    model.Input(name, inputs_[i].type, inputs_[i].dims);
    if (i == 0 && is_masked_) {
      model.Layer("Masking", "masking",
                  "{\"mask_value\": " + std::to_string(mask_value_) + "}",
                  R"([["x0", 0, 0, {}]])");
      name = "masking";
    }
    operands +=
        (i == 0 ? "[\"" : ", [\"") + name + "\", 0, 0, " + arguments_ + "]";
  }
  std::vector<keras::TestWeight> weights;
  for (const Numbers& weight : weights_)
    weights.push_back({weight.type, weight.dims, BytesOf(weight)});
  model.Layer(class_name_, "layer", config_, "[" + operands + "]", weights);
  for (int i = 0; i < results_; ++i) model.Output("layer", 0, i);
  return model.Finish();
}

StatusOr<std::vector<Numbers>> OneLayer::Run(
    const std::vector<Numbers>& state) {
  std::vector<Numbers> inputs = inputs_;
  inputs.insert(inputs.end(), state.begin(), state.end());
  return RunKerasFile(File(), inputs);
}

}  // namespace ember::tests
