// Small whole models from which tests make damaged files.
//
//   for (std::string_view name : SampleModelNames()) SampleModel(name);
#ifndef EMBER_FRONTENDS_KERAS_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_KERAS_TESTING_SAMPLE_MODELS_H_

#include <span>
#include <string>
#include <string_view>

namespace ember::keras {

std::span<const std::string_view> SampleModelNames();
// Returns the bytes of the model's file; `name` is one of SampleModelNames().
std::string SampleModel(std::string_view name);

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_TESTING_SAMPLE_MODELS_H_
