// Compiles the machine code of a model's kernels, for any processor.
//
//   EMBER_ASSIGN_OR_RETURN(const std::vector<KernelCode> kernels,
//                          CodeOf(onnx_model, cpu, ""));
//   // kernels[0].properties.spilled_vectors
#ifndef EMBER_TESTS_PERFORMANCE_MODEL_CODE_H_
#define EMBER_TESTS_PERFORMANCE_MODEL_CODE_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/onnx/testing/model_builder.h"
#include "tests/performance/code_properties.h"
#include "tests/performance/guarded_cpus.h"

namespace ember::tests {

struct KernelCode {
  std::string dispatch;
  CodeProperties properties;
  std::string schedule, nest, assembly;
};

// Returns all kernels of tier 2 of the model, compiled for the CPU. Errors:
// those of NestsOf (model_nests.h); the compiler declines.
StatusOr<std::vector<KernelCode>> CodeOf(onnx::ModelBuilder& model,
                                         const GuardedCpu& cpu,
                                         const std::string& schedule_folder);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_MODEL_CODE_H_
