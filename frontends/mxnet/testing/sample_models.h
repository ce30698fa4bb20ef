// Small whole models that tests of damaged files begin with.
//
//   for (std::string_view name : SampleModelNames()) SampleModel(name);
#ifndef EMBER_FRONTENDS_MXNET_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_MXNET_TESTING_SAMPLE_MODELS_H_

#include <span>
#include <string>
#include <string_view>

namespace ember::mxnet {

std::span<const std::string_view> SampleModelNames();
// A symbol, a byte 0, and parameters; the name is one of those.
std::string SampleModel(std::string_view name);

}  // namespace ember::mxnet

#endif  // EMBER_FRONTENDS_MXNET_TESTING_SAMPLE_MODELS_H_
