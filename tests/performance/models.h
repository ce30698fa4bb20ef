// The models whose speed is guarded, and what is expected of each: blocks of
// networks with constant weights, made in code, so that a clean clone has them.
//
//   for (const GuardedModel& model : GuardedModels()) {
//     onnx::ModelBuilder onnx_model = model.build();
//     // measure.h; speed.relative >= model.least_speed()
//   }
//
// Bounds are in this one table (models.cc), as parts of what was measured. How
// to change one: docs/development.md, "Speed".
#ifndef EMBER_TESTS_PERFORMANCE_MODELS_H_
#define EMBER_TESTS_PERFORMANCE_MODELS_H_

#include <span>

#include "frontends/onnx/model_builder.h"

namespace ember::tests {

struct GuardedModel {
  const char* name;  // as of a test case: letters, digits and _
  onnx::ModelBuilder (*build)();
  // Speed::relative (measure.h) as it was measured when the row was written, on
  // AMD Zen 3, the median of ten runs of measure_models.
  double usual_speed;

  // The test fails below. Beside compilers and busy loops a run's figure was
  // down to 0.64 of the usual one (where more turns, in other memory, did
  // not repeat it: performance_test.cc); twice the time is 0.5.
  double least_speed() const { return 0.6 * usual_speed; }
};

std::span<const GuardedModel> GuardedModels();

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_MODELS_H_
