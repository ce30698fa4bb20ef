// Small whole programs, as JAX prints them, that tests begin with.
//
//   for (std::string_view name : SampleModelNames()) SampleModel(name);
//
// What they compute is in tests/stablehlo/networks_test.cc.
#ifndef EMBER_FRONTENDS_STABLEHLO_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_STABLEHLO_TESTING_SAMPLE_MODELS_H_

#include <span>
#include <string>
#include <string_view>

namespace ember::stablehlo {

std::span<const std::string_view> SampleModelNames();
// The name is one of those.
std::string SampleModel(std::string_view name);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_TESTING_SAMPLE_MODELS_H_
