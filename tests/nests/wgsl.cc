#include <string>

#include "jit/schedule/gpu/schedule.h"
#include "jit/target/gpu_model.h"
#include "jit/wgsl/testing/run_nest.h"
#include "tests/nests/runs.h"

namespace ember::nests {

namespace wgsl = jit::wgsl;

std::string WgslMissing() { return wgsl::WhyNoDevice(); }

std::string WgslMachine() { return "the adapter of Dawn for Node"; }

bool WgslKeepsSubnormals(DType) { return wgsl::KeepsSubnormals(); }

std::optional<std::vector<loops::MatrixType>> WgslMatrices() {
  return std::vector<loops::MatrixType>();
}

Status ScheduleForWgsl(schedule::Schedule& schedule) {
  return ScheduleForGpu(jit::GpuModel::Of(wgsl::TestDevice()->target()),
                        schedule);
}

Status RunWgsl(const loops::LoopNest& nest,
               const std::vector<int64_t>& parameters, Contents& buffers) {
  return wgsl::RunOnDevice(nest, parameters, buffers);
}

}  // namespace ember::nests
