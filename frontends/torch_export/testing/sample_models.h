// Small whole programs, which tests of damaged files damage, too.
//
//   for (std::string_view name : SampleModelNames()) SampleModel(name);
#ifndef EMBER_FRONTENDS_TORCH_EXPORT_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_TORCH_EXPORT_TESTING_SAMPLE_MODELS_H_

#include <span>
#include <string>
#include <string_view>

#include "frontends/torch_export/testing/program_builder.h"

namespace ember::torch_export {

// layers: x f32[s0, 1, 4, 4] → convolution, batch norm, relu, max pool, linear:
//   f32[s0, 2]
// block: x f32[s0, s1, 4] → a transformer block: the same shape
// branch: x f32[3] → cond: 2 x where the sum is positive, else -x
// counter: x f32[2] → x + total, where the buffer `total` grows by x
// loop: x f32[2] → while_loop: doubled until the sum is above 100
std::span<const std::string_view> SampleModelNames();
ProgramBuilder SampleProgram(std::string_view name);
// Returns the archive of a sample, in the layout of newer versions of PyTorch.
std::string SampleModel(std::string_view name);

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_TESTING_SAMPLE_MODELS_H_
