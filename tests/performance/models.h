// The models whose speed is guarded, and the expected figures of each: blocks
// of networks with constant weights, made in code, so that a clean clone has
// them.
//
//   for (const GuardedModel& model : GuardedModels()) {
//     onnx::ModelBuilder onnx_model = model.build();
//     // model_instructions.h;
//     // count.total <= 1e6 * model.most_instructions(cpu)
//   }
//
// Bounds are in this one table (models.cc), as parts of what was measured. How
// to change one: docs/development.md, "Speed".
#ifndef EMBER_TESTS_PERFORMANCE_MODELS_H_
#define EMBER_TESTS_PERFORMANCE_MODELS_H_

#include <cstddef>
#include <span>
#include <string>

#include "frontends/onnx/testing/model_builder.h"
#include "tests/performance/guarded_cpus.h"

namespace ember::tests {

struct GuardedModel {
  // Name of the model, for names of test cases: letters, digits and _
  const char* name;
  onnx::ModelBuilder (*build)();
  // Usual value of ModelInstructions::total (model_instructions.h) in millions,
  // counted when the row was written, for each kind of vectors
  // (guarded_cpus.h).
  double usual_instructions[kVectorKinds];
  // Largest CodeProperties::spilled_vectors (code_properties.h) of all kernels
  // of the model: a quarter more than there were when the row was written.
  int most_spills[kVectorKinds];
  // Usual value of Speed::relative (measure.h), measured when the row was
  // written on AMD Zen 3: the median of ten runs of measure_models. It helps
  // people with a new machine: other machines are expected to reach at least
  // half of it.
  double usual_speed;

  // Returns a command that measures the model and shows which dispatches take
  // the time.
  std::string ReplayText() const {
    return std::string("bazel run //tests/performance:measure_models -- ") +
           name + " --explain";
  }

  // Largest count, in millions, with which the test passes. The count is exact;
  // the margin is for schedules that are faster with more instructions.
  double most_instructions(const GuardedCpu& cpu) const {
    return 1.25 * usual_instructions[static_cast<size_t>(cpu.kind)];
  }
};

std::span<const GuardedModel> GuardedModels();

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_MODELS_H_
