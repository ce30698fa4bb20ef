#include "tests/performance/model_instructions.h"

#include "tests/performance/count_instructions.h"
#include "tests/performance/model_nests.h"

namespace ember::tests {

StatusOr<ModelInstructions> CountModel(onnx::ModelBuilder& model,
                                       const GuardedCpu& cpu,
                                       const std::string& schedule_folder) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<ModelNest> nests,
                         NestsOf(model, cpu, schedule_folder));
  ModelInstructions count;
  for (const ModelNest& nest : nests) {
    const StatusOr<InstructionCount> once =
        CountInstructions(nest.nest, nest.parameters, cpu.Model().vector_bytes);
    EMBER_RETURN_IF_ERROR(once.status().WithContext(nest.dispatch));
    const double instructions = once->total() * static_cast<double>(nest.calls);
    count.dispatches.push_back({nest.dispatch, instructions});
    count.total += instructions;
  }
  return count;
}

}  // namespace ember::tests
