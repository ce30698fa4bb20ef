// Makes the loop nests of a model's kernels, for any processor.
//
//   EMBER_ASSIGN_OR_RETURN(const std::vector<ModelNest> nests,
//                          NestsOf(onnx_model, cpu, ""));
#ifndef EMBER_TESTS_PERFORMANCE_MODEL_NESTS_H_
#define EMBER_TESTS_PERFORMANCE_MODEL_NESTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/onnx/testing/model_builder.h"
#include "jit/loops/loop_nest.h"
#include "tests/performance/guarded_cpus.h"

namespace ember::tests {

struct ModelNest {
  std::string dispatch;
  // Number of times that the dispatch is called in one call of the model.
  int64_t calls = 0;
  std::vector<int64_t> parameters;
  loops::LoopNest nest;
  std::string schedule;
};

// Compiles the model, and makes the nest of tier 2 of each dispatch by the
// default schedule or by the one in schedule_folder, as vm-run's --schedules
// does (empty: none). It runs the model once on the interpreter, as only a run
// shows which dispatches there are. Errors: those of each step, with the
// dispatch's name.
StatusOr<std::vector<ModelNest>> NestsOf(onnx::ModelBuilder& model,
                                         const GuardedCpu& cpu,
                                         const std::string& schedule_folder);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_MODEL_NESTS_H_
