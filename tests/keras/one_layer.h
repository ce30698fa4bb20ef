// Runs one Keras layer end to end: makes a file, imports, compiles and executes
// it, with operands and results written as numbers.
//
//   OneLayer layer("LeakyReLU", R"({"alpha": 0.5})");
//   layer.Input(F32({1, 2}, {-2, 3}));
//   ExpectNumbers(layer.Run(), {F32({1, 2}, {-1, 3})});
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_KERAS_ONE_LAYER_H_
#define EMBER_TESTS_KERAS_ONE_LAYER_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/frontend.h"
#include "frontends/keras/testing/model_builder.h"
#include "tests/formats/numbers.h"

namespace ember::tests {

// Imports, compiles and runs a file. Returns all results, state last.
StatusOr<std::vector<Numbers>> RunKerasFile(
    const std::string& file, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options = {});

class OneLayer {
 public:
  // Makes a layer of a class. `config` is the layer's configuration as JSON,
  // without its name.
  OneLayer(std::string class_name, std::string config = "{}")
      : class_name_(std::move(class_name)), config_(std::move(config)) {}

  // Adds the next operand, which is given at run time.
  OneLayer& Input(Numbers value);
  // Adds the next weight, in the order of the file.
  OneLayer& Weight(Numbers value);
  // Sets named arguments of the call, as JSON: {"use_causal_mask": true}.
  OneLayer& Arguments(std::string json) {
    arguments_ = std::move(json);
    return *this;
  }
  // Sets how many of the layer's results are outputs of the model.
  OneLayer& Results(int count) {
    results_ = count;
    return *this;
  }
  OneLayer& Version(std::string keras_version) {
    version_ = std::move(keras_version);
    return *this;
  }
  // Adds a Masking layer for this value before the first input.
  OneLayer& Masked(double value) {
    mask_value_ = value;
    is_masked_ = true;
    return *this;
  }
  // Returns the contents of the model's file.
  std::string File() const;
  // Runs the layer on its operands and, after them, on the values of its state.
  // Returns its results.
  StatusOr<std::vector<Numbers>> Run(const std::vector<Numbers>& state = {});

 private:
  std::string class_name_, config_, arguments_ = "{}", version_ = "2.15.0";
  std::vector<Numbers> inputs_;
  std::vector<Numbers> weights_;
  int results_ = 1;
  bool is_masked_ = false;
  double mask_value_ = 0;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_KERAS_ONE_LAYER_H_
