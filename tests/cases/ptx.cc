#include <memory>
#include <string>
#include <utility>

#include "hal/drivers.h"
#include "jit/gpu/testing.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"
#include "jit/schedule/gpu/gpu_schedule.h"
#include "jit/target/gpu_model.h"
#include "tests/cases/executor_runs.h"

namespace ember::cases {

Outcome RunPtx(const Subject& subject, const Run& run,
               std::vector<Bytes>& buffers) {
  if (run.has_races) return Outcome::Declined("races: order counts");
  if (!subject.is_verified) return Outcome::Declined("unverified: no proof");
  const auto device = hal::CreateDevice("cuda-emulated", {.threads = 1});
  if (!device.ok()) return Outcome::Ran(device.status());
  const std::string target((*device)->target());
  const auto nest = subject.Nest([&](schedule::Schedule& schedule) {
    return ScheduleForGpu(jit::GpuModel::Of(target), schedule);
  });
  if (!nest.ok()) return Outcome::Of(nest.status());
  auto code =
      jit::ptx::CompileNest(*nest, jit::ptx::Target::Of(target), nullptr);
  if (!code.ok()) return Outcome::Of(code.status());
  return Outcome::Of(jit::gpu::RunNest(*device, *nest, *std::move(code),
                                       run.parameters, buffers));
}

}  // namespace ember::cases
