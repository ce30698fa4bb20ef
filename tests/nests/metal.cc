#include <string>

#include "jit/metal/testing/run_nest.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/target/gpu_model.h"
#include "tests/nests/runs.h"

namespace ember::nests {

namespace metal = jit::metal;

std::string MetalMissing() { return metal::MissingCompiler(); }

std::string MetalMachine() { return "the fake Metal device"; }

std::optional<std::vector<loops::MatrixType>> MetalMatrices() {
  return std::vector<loops::MatrixType>();
}

Status ScheduleForMetal(schedule::Schedule& schedule) {
  return ScheduleForGpu(jit::GpuModel::Of(metal::TestDevice()->target()),
                        schedule);
}

Status RunMetal(const loops::LoopNest& nest,
                const std::vector<int64_t>& parameters, Contents& buffers) {
  return metal::RunOnFake(nest, parameters, buffers);
}

}  // namespace ember::nests
