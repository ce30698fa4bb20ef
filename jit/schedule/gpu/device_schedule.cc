#include "jit/schedule/gpu/device_schedule.h"

#include <vector>

#include "base/dtype.h"
#include "jit/loops/analysis/matrix_operation.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

Status ScheduleForDevice(std::string_view target,
                         const jit::ScheduleOptions& options,
                         Schedule& schedule) {
  jit::GpuModel gpu = jit::GpuModel::Of(target);
  // If schedules must be exact, products of float matrices are not used,
  // because the device chooses how their sums are rounded.
  if (options.is_exact) {
    std::erase_if(gpu.matrices, [](const loops::MatrixType& type) {
      return IsFloat(type.sum);
    });
  }
  return ScheduleForGpu(gpu, schedule);
}

}  // namespace ember::schedule
