#include <memory>
#include <string>
#include <utility>

#include "jit/gpu/testing.h"
#include "jit/ptx/assembler_testing.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/device_testing.h"
#include "jit/ptx/target.h"
#include "jit/schedule/gpu/gpu_schedule.h"
#include "jit/target/gpu_model.h"
#include "jit/target/matrix_instructions.h"
#include "tests/nests/runs.h"

namespace ember::nests {

namespace ptx = jit::ptx;

std::string PtxPlace() { return std::string(ptx::TestDevice()->target()); }

std::optional<std::vector<loops::MatrixType>> PtxMatrices() {
  return jit::MatrixTypesOf(
      ptx::Target::Of(ptx::TestDevice()->target()).architecture);
}

Status ScheduleForPtx(schedule::Schedule& schedule) {
  return ScheduleForGpu(jit::GpuModel::Of(ptx::TestDevice()->target()),
                        schedule);
}

Status RunPtx(const loops::LoopNest& nest,
              const std::vector<int64_t>& parameters, Contents& buffers) {
  const std::shared_ptr<hal::Device> device = ptx::TestDevice();
  const ptx::Target target = ptx::Target::Of(device->target());
  const bool assembles = ptx::HasAssembler();
  ptx::CodeTexts texts;
  EMBER_ASSIGN_OR_RETURN(
      jit::gpu::DeviceCode code,
      ptx::CompileNest(nest, target, assembles ? &texts : nullptr));
  if (assembles) {
    const std::string wrong = ptx::Assemble(texts.ptx, target.processor);
    if (!wrong.empty()) return InternalError(wrong);
  }
  return jit::gpu::RunNest(device, nest, std::move(code), parameters, buffers);
}

}  // namespace ember::nests
