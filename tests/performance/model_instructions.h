// Counts the vector instructions that a model's kernels execute, by their loop
// nests (count_instructions.h): a figure that no other program on the machine
// changes.
//
//   EMBER_ASSIGN_OR_RETURN(const ModelInstructions count,
//                          CountModel(onnx_model, cpu, ""));
//   // count.total, and which dispatch has how many
#ifndef EMBER_TESTS_PERFORMANCE_MODEL_INSTRUCTIONS_H_
#define EMBER_TESTS_PERFORMANCE_MODEL_INSTRUCTIONS_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/onnx/testing/model_builder.h"
#include "tests/performance/guarded_cpus.h"

namespace ember::tests {

struct ModelInstructions {
  struct Dispatch {
    std::string name;
    double instructions = 0;  // number of instructions in a call of the model
  };
  std::vector<Dispatch> dispatches;
  double total = 0;
};

// Counts the instructions of a model. Errors: those of NestsOf (model_nests.h),
// and of CountInstructions.
StatusOr<ModelInstructions> CountModel(onnx::ModelBuilder& model,
                                       const GuardedCpu& cpu,
                                       const std::string& schedule_folder);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_MODEL_INSTRUCTIONS_H_
