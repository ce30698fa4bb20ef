// Compares the results of two engines for one model, and says why they may
// differ.
#ifndef EMBER_TESTS_RANDOM_MODELS_JUDGE_H_
#define EMBER_TESTS_RANDOM_MODELS_JUDGE_H_

#include <functional>
#include <string>

#include "base/status.h"
#include "tests/random_models/model.h"
#include "tests/random_models/ort_process.h"

namespace ember::tests {

// Returns "" if the results are equal. Floats may differ by some hundred units
// in their last place (tools::TierTolerance), plus a tenth of that for the
// largest element; everything else must be equal.
std::string Difference(const NamedTensors& got, const NamedTensors& want);

// Returns the name of the rule that explains a difference as the fault of
// neither engine; "" if there is none. These are the rules, and the reasons why
// they are not our errors:
//
//   unstable         The inputs and constants of the model are changed by some
//                    units in the last place (f64 2e-15, f32 1e-6, narrower
//                    floats 2e-3). Results of functions that are flat somewhere
//                    (Tanh, Gelu) are changed as well, because there they hide
//                    changes of their operand. ONNX Runtime's own results then
//                    change by at least a quarter of the difference, in at
//                    least about a quarter as many elements. So rounding alone
//                    decides the results: a Floor at its step, an ArgMax of
//                    ties, a quantized value halfway between two, a sum that
//                    cancels.
//   itself           With its graph optimisations ONNX Runtime gives our
//                    result: it differs from itself.
//   less exact       ONNX Runtime runs the model with f64 in place of f32. Each
//                    element of our result agrees with that exact one, or is a
//                    hundred times nearer to it than the element that ONNX
//                    Runtime computes in f32. Its algorithm cancels, such as
//                    x * k + (b - m * k) for a normalization of few elements, or
//                    is coarse, such as its Sigmoid, a multiple of 2^-25 and so
//                    0 below -18.
StatusOr<std::string> Explain(OrtProcess& ort, const RandomModel& model,
                              const NamedTensors& got,
                              const NamedTensors& want);

// IsUnstable and IsLessExact apply the first and the last rule alone, with any
// engine in place of ONNX Runtime, such as the evaluator: it adds long sums of
// f32 one by one.
using ModelEngine =
    std::function<StatusOr<NamedTensors>(const RandomModel& model)>;
bool IsUnstable(const ModelEngine& run, const RandomModel& model,
                const NamedTensors& got, const NamedTensors& want);
bool IsLessExact(const ModelEngine& run, const RandomModel& model,
                 const NamedTensors& got, const NamedTensors& want);

}  // namespace ember::tests

#endif  // EMBER_TESTS_RANDOM_MODELS_JUDGE_H_
