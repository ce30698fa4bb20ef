#include <string>

#include "base/concat.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/schedule/gpu/gpu_schedule.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/target.h"
#include "jit/spirv/testing.h"
#include "jit/target/gpu_model.h"
#include "tests/cases/executor_runs.h"

namespace ember::cases {

namespace spirv = jit::spirv;

std::string SpirvMissing() {
  return spirv::TestDevice() == nullptr ? spirv::kNoDevice : "";
}

bool SpirvKeepsSubnormals() { return spirv::KeepsSubnormals(); }

Outcome RunSpirv(const Subject& subject, const Run& run,
                 std::vector<Bytes>& buffers) {
  if (run.has_races) return Outcome::Declined("races: order counts");
  if (!subject.is_verified) return Outcome::Declined("unverified: no proof");
  const auto nest = subject.Nest([](schedule::Schedule& schedule) {
    return ScheduleForGpu(jit::GpuModel::Of(spirv::TestTarget()), schedule);
  });
  if (!nest.ok()) return Outcome::Of(nest.status());
  return Outcome::Of(spirv::RunOnDevice(*nest, run.parameters, buffers));
}

StatusOr<std::string> SpirvFigures(const loops::LoopNest& nest,
                                   std::string_view target) {
  EMBER_ASSIGN_OR_RETURN(const spirv::ModuleCode code,
                         spirv::EmitModule(nest, spirv::Target::Of(target)));
  EMBER_RETURN_IF_ERROR(spirv::Validate(code.words));
  std::string text;
  for (const auto* phases : {&code.prologue, &code.phases}) {
    for (const jit::gpu::PhaseCode& phase : *phases)
      text += Concat({phase.Figures(), ", ", phase.tasks_per_workgroup,
                      " tasks per workgroup, ", phase.bindings.size(),
                      " buffers", phase.has_slices ? ", sliced" : "", "\n"});
  }
  return text;
}

}  // namespace ember::cases
