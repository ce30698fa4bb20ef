#include "jit/kernel/build_nest.h"

#include <utility>
#include <vector>

#include "base/dtype.h"
#include "jit/decline_reasons.h"
#include "jit/loops/matrix_operation.h"
#include "jit/loops/text.h"
#include "jit/loops/verifier.h"
#include "jit/schedule/collapse_axes.h"
#include "jit/schedule/computation.h"
#include "jit/schedule/default_schedule.h"
#include "jit/schedule/gpu_schedule.h"
#include "jit/schedule/lowering.h"
#include "jit/schedule/schedule.h"
#include "jit/schedule/split_dims.h"
#include "jit/schedule/winograd_matrices.h"
#include "jit/spirv/target.h"
#include "jit/target/gpu_model.h"

namespace ember::jit {
namespace {

Status ScheduleForDevice(const vm::KernelRequest& request, bool is_exact,
                         schedule::Schedule& schedule) {
  GpuModel gpu = GpuModel::Of(request.target);
  // Sums of matrices of floats are rounded as the device likes.
  if (is_exact) {
    std::erase_if(gpu.matrices, [](const loops::MatrixType& type) {
      return IsFloat(type.sum);
    });
  }
  return schedule::ScheduleForGpu(gpu, schedule);
}

// Winograd's convolutions, in two dims, add up other products.
double ErrorGrowthOf(const std::string& schedule) {
  return schedule.find("winograd ") == std::string::npos
             ? 1
             : schedule::kLargestErrorGrowth * schedule::kLargestErrorGrowth;
}

}  // namespace

StatusOr<loops::LoopNest> BuildNest(const vm::KernelRequest& request,
                                    const NestOptions& options, NestText* text,
                                    double* error_growth) {
  schedule::Computation computation =
      schedule::Disassemble(*request.dispatch, request.parameters);
  for (size_t i = 0; i < request.constant_inputs.size(); ++i) {
    if (request.constant_inputs[i])
      schedule::MakeConstant(computation.buffers[i], request.constant_data[i]);
  }
  schedule::CollapseAxes(computation);
  schedule::SplitDims(computation);
  schedule::Schedule schedule(std::move(computation));
  Status scheduled;
  if (!options.given_schedule.empty()) {
    scheduled = schedule.Replay(options.given_schedule);
  } else if (spirv::IsSpirvTarget(request.target)) {
    scheduled = ScheduleForDevice(request, options.is_exact, schedule);
  } else {
    scheduled = schedule::ScheduleByModel(
        options.cpu != nullptr ? *options.cpu : CpuModel::Of(request.target),
        schedule, {.exact = options.is_exact});
  }
  EMBER_RETURN_IF_ERROR(scheduled);
  EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest, schedule::Lower(schedule));
  if (error_growth != nullptr) *error_growth = ErrorGrowthOf(schedule.ToText());
  if (text != nullptr)
    *text = {.schedule = schedule.ToText(), .nest = loops::ToText(nest)};
  // Modules come from strangers: what runs has been proved to stay in bounds.
  if (Status status = loops::Verify(nest); !status.ok())
    return Decline(DeclineReason::kNoProof, status.message());
  return nest;
}

}  // namespace ember::jit
