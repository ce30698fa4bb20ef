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
//   unstable         ONNX Runtime's own results move as much (a quarter of the
//                    difference or more), in as many elements, when its float
//                    inputs and constants move by some units in the last place
//                    (f64 2e-15, f32 1e-6, narrower ones 2e-3), and results of
//                    functions that hide such movements where they are flat, as
//                    Tanh is, are rounded once more, those of Gelu and its like
//                    by units of their operand: a Floor at its step, an
//                    ArgMax of ties, a quantized value halfway between two, a
//                    sum that cancels. Rounding alone decides there.
//   itself           With its graph optimisations ONNX Runtime gives our
//                    result: it differs from itself.
//   less exact       With every f32 of the model made an f64 ONNX Runtime gives
//                    our result, or elements that are a hundred times nearer to
//                    ours than to its own f32 ones: its rounding errors are
//                    those of an algorithm that cancels, as x * k + (b - m * k)
//                    for a normalization of few elements, or Sigmoid, which is
//                    a multiple of 2^-25 and so 0 below -18.
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
