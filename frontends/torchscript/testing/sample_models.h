// Small whole models, which tests of damaged files damage.
//
//   for (std::string_view name : SampleModelNames()) SampleModel(name);
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_TESTING_SAMPLE_MODELS_H_

#include <span>
#include <string>
#include <string_view>

namespace ember::torchscript {

std::span<const std::string_view> SampleModelNames();
// Returns the archive of a model; the name is one of SampleModelNames(). All
// models take x: f32[2, 3].
std::string SampleModel(std::string_view name);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_TESTING_SAMPLE_MODELS_H_
