// How many vector instructions a model's kernels execute, by their loop nests
// (count_instructions.h): a figure that no neighbour on the machine changes,
// for a CPU with AVX2 whatever this one has.
//
//   EMBER_ASSIGN_OR_RETURN(const ModelInstructions count,
//                          CountModel(onnx_model, ""));
//   // count.total, and which dispatch has how many
#ifndef EMBER_TESTS_PERFORMANCE_MODEL_INSTRUCTIONS_H_
#define EMBER_TESTS_PERFORMANCE_MODEL_INSTRUCTIONS_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/onnx/model_builder.h"

namespace ember::tests {

struct ModelInstructions {
  struct Dispatch {
    std::string name;
    double instructions = 0;  // of a call of the model
  };
  std::vector<Dispatch> dispatches;
  double total = 0;
};

// Compiles the model, makes the nest of tier 2 of each dispatch, by the default
// schedule or the one in schedule_folder, as vm-run's --schedules has it
// (empty: none), and runs it once on the interpreter, as only a run tells which
// dispatches there are. Errors: those of each step, with the dispatch's name.
StatusOr<ModelInstructions> CountModel(onnx::ModelBuilder& model,
                                       const std::string& schedule_folder);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_MODEL_INSTRUCTIONS_H_
