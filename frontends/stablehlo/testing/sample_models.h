// Small whole programs, as JAX prints them, for tests.
//
//   for (std::string_view name : SampleModelNames()) SampleModel(name);
//
// tests/stablehlo/networks_test.cc says what the programs compute.
#ifndef EMBER_FRONTENDS_STABLEHLO_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_STABLEHLO_TESTING_SAMPLE_MODELS_H_

#include <span>
#include <string>
#include <string_view>

namespace ember::stablehlo {

std::span<const std::string_view> SampleModelNames();
// Returns the program. `name` is one of SampleModelNames().
std::string SampleModel(std::string_view name);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_TESTING_SAMPLE_MODELS_H_
