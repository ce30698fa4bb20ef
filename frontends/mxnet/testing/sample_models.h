// Small whole models from which tests make damaged files.
//
//   for (std::string_view name : SampleModelNames()) SampleModel(name);
#ifndef EMBER_FRONTENDS_MXNET_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_MXNET_TESTING_SAMPLE_MODELS_H_

#include <span>
#include <string>
#include <string_view>

namespace ember::mxnet {

std::span<const std::string_view> SampleModelNames();
// Returns a model as one string: the symbol's JSON, a zero byte, and the
// parameters; `name` is one of SampleModelNames().
std::string SampleModel(std::string_view name);

}  // namespace ember::mxnet

#endif  // EMBER_FRONTENDS_MXNET_TESTING_SAMPLE_MODELS_H_
