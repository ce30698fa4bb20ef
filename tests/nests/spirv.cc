#include <string>

#include "base/concat.h"
#include "base/hash.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/text/text.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/target.h"
#include "jit/spirv/testing/run_nest.h"
#include "jit/target/gpu_model.h"
#include "tests/nests/runs.h"

namespace ember::nests {

namespace spirv = jit::spirv;

namespace {

// Returns the device's own target, or a variant of it that makes other code. A
// hash of the nest chooses the variant, so that equal nests have equal targets.
std::string TargetFor(const loops::LoopNest& nest) {
  std::string target = spirv::TestTarget();
  const std::string text = loops::ToText(nest);
  const uint64_t choice = HashString(text) % 3;
  if (choice == 1) target += "+fast_dot";
  // The variant without the Vulkan memory model has no matrices, so a nest with
  // matrices does not get it.
  if (choice == 2 && text.find("matrix") == std::string::npos)
    target = spirv::Without(std::move(target), "vulkan_memory_model");
  return target;
}

}  // namespace

std::string SpirvMissing() {
  return spirv::TestDevice() == nullptr ? spirv::kNoDevice : "";
}

std::string SpirvMachine() { return "the first Vulkan device"; }

bool SpirvKeepsSubnormals(DType) { return spirv::KeepsSubnormals(); }

std::optional<std::vector<loops::MatrixType>> SpirvMatrices() {
  if (!spirv::WhyNoMatrices().empty()) return std::vector<loops::MatrixType>();
  return spirv::Target::Of(spirv::TestTarget()).matrices;
}

Status ScheduleForSpirv(schedule::Schedule& schedule) {
  return ScheduleForGpu(jit::GpuModel::Of(spirv::TestTarget()), schedule);
}

Status RunSpirv(const loops::LoopNest& nest,
                const std::vector<int64_t>& parameters, Contents& buffers) {
  return spirv::RunOnDevice(nest, parameters, buffers, TargetFor(nest));
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

}  // namespace ember::nests
