#include <string>

#include "jit/opencl/testing/run_nest.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/target/gpu_model.h"
#include "tests/nests/runs.h"

namespace ember::nests {

namespace opencl = jit::opencl;

std::string OpenClMissing() { return opencl::WhyNoDevice(); }

std::string OpenClMachine() { return "the first OpenCL device"; }

bool OpenClKeepsSubnormals(DType) { return opencl::KeepsSubnormals(); }

std::optional<std::vector<loops::MatrixType>> OpenClMatrices() {
  return std::vector<loops::MatrixType>();
}

Status ScheduleForOpenCl(schedule::Schedule& schedule) {
  return ScheduleForGpu(jit::GpuModel::Of(opencl::TestDevice()->target()),
                        schedule);
}

Status RunOpenCl(const loops::LoopNest& nest,
                 const std::vector<int64_t>& parameters, Contents& buffers) {
  return opencl::RunOnDevice(nest, parameters, buffers);
}

}  // namespace ember::nests
