// Small whole models that tests of damaged files begin with.
//
//   for (std::string_view name : SampleModelNames()) SampleModel(name);
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_TESTING_SAMPLE_MODELS_H_

#include <span>
#include <string>
#include <string_view>

namespace ember::torchscript {

std::span<const std::string_view> SampleModelNames();
// An archive; the name is one of those. All take x: f32[2, 3].
std::string SampleModel(std::string_view name);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_TESTING_SAMPLE_MODELS_H_
