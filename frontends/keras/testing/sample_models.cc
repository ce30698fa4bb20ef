#include "frontends/keras/testing/sample_models.h"

#include <vector>

#include "frontends/keras/testing/model_builder.h"

namespace ember::keras {
namespace {

std::string ConvModel() {
  ModelBuilder model;
  model.Input("x", DType::kF32, {-1, 4, 4, 1});
  model.Layer("Conv2D", "conv",
              R"({"kernel_size": [2, 2], "strides": [1, 1], "padding": "same",
                  "activation": "relu", "use_bias": true})",
              R"([["x", 0, 0, {}]])",
              {Weight({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
               Weight({2}, {0.5, -0.5})});
  model.Layer("MaxPooling2D", "pool", R"({"pool_size": 2})",
              R"([["conv", 0, 0, {}]])");
  model.Layer("Flatten", "flatten", "{}", R"([["pool", 0, 0, {}]])");
  model.Layer("Dense", "dense", R"({"units": 1, "use_bias": false})",
              R"([["flatten", 0, 0, {}]])",
              {Weight({8, 1}, {1, 2, 3, 4, 5, 6, 7, 8})});
  model.Output("dense");
  return model.Finish();
}

std::string RecurrentModel() {
  ModelBuilder model;
  model.Input("x", DType::kF32, {1, -1, 2});
  model.Layer("Masking", "mask", R"({"mask_value": 0})",
              R"([["x", 0, 0, {}]])");
  model.Layer(
      "Bidirectional", "both",
      R"({"merge_mode": "concat", "layer": {"class_name": "SimpleRNN",
                  "config": {"name": "rnn", "units": 1, "activation": "tanh",
                             "return_sequences": true}}})",
      R"([["mask", 0, 0, {}]])",
      {Weight({2, 1}, {1, -1}), Weight({1, 1}, {0.5}), Weight({1}, {0}),
       Weight({2, 1}, {-1, 1}), Weight({1, 1}, {0.25}), Weight({1}, {0.125})});
  model.Output("both");
  return model.Finish();
}

std::string ArchivedModel() {
  return ArchiveModel(
      R"({"module": "keras", "class_name": "Sequential", "config": {
        "name": "s", "layers": [
          {"module": "keras.layers", "class_name": "InputLayer", "config":
            {"batch_shape": [null, 2], "dtype": "float32", "name": "x"}},
          {"module": "keras.layers", "class_name": "Dense", "config":
            {"name": "d", "units": 1, "activation": "sigmoid"}}]}})",
      "3.4.1",
      {{"layers/dense/vars/0", Weight({2, 1}, {1, -1})},
       {"layers/dense/vars/1", Weight({1}, {0.5})}});
}

constexpr std::string_view kNames[] = {"conv.h5", "recurrent.h5",
                                       "archive.keras"};

}  // namespace

std::span<const std::string_view> SampleModelNames() { return kNames; }

std::string SampleModel(std::string_view name) {
  return name == "conv.h5"        ? ConvModel()
         : name == "recurrent.h5" ? RecurrentModel()
                                  : ArchivedModel();
}

}  // namespace ember::keras
