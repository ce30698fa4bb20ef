#include "jit/target/gpu_model.h"

#include <algorithm>
#include <optional>
#include <thread>

#include "base/target_text.h"
#include "jit/target/cuda_architecture.h"
#include "jit/target/dot_instructions.h"
#include "jit/target/matrix_instructions.h"

namespace ember::jit {
namespace {

// Largest subgroup that a driver which runs on a CPU reports: it maps
// invocations to the lanes of the CPU's vectors. A smaller or equal subgroup is
// a sign of such a driver.
constexpr int64_t kLargestVector = 8;
// Number of registers of one processor (SM), the same in all of CUDA's
// architectures since 7.0 (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability").
constexpr int64_t kCudaRegisters = 65536;
// Number of registers that an invocation needs for addresses and counters.
constexpr int64_t kIndexRegisters = 32;

// Returns the types of matrices that the device multiplies: for CUDA's devices
// those of their architecture; for others, one for each feature such as
// "matrix16x16x16:f16:f16:f32".
std::vector<loops::MatrixType> MatricesOf(std::string_view text,
                                          const TargetText& target) {
  constexpr std::string_view kName = "matrix";
  std::vector<loops::MatrixType> matrices = MatrixTypesOf(text);
  target.ForEachFeature([&](std::string_view feature) {
    if (!feature.starts_with(kName)) return;
    const auto type = loops::ParseMatrixType(feature.substr(kName.size()));
    if (type) matrices.push_back(*type);
  });
  return matrices;
}

}  // namespace

int64_t GpuModel::ShareOfRegisters(int64_t invocations) const {
  return processor_registers / invocations - kIndexRegisters;
}

double GpuModel::InvocationsWith(double registers) const {
  return static_cast<double>(processor_registers) /
         (registers + static_cast<double>(kIndexRegisters));
}

int64_t GpuModel::RegistersFor(int64_t invocations) const {
  if (processor_registers == 0) return registers;
  return std::min(registers, ShareOfRegisters(invocations));
}

GpuModel GpuModel::Of(std::string_view text) {
  const TargetText target(text);
  GpuModel gpu;
  const auto read = [&](std::string_view name, int64_t& value) {
    const std::optional<int64_t> told = target.Number(name);
    if (told && *told > 0) value = *told;
    return told.has_value();
  };
  const bool knows_subgroups = read("subgroup", gpu.subgroup_size);
  read("shared", gpu.shared_bytes);
  read("invocations", gpu.max_invocations);
  gpu.is_cpu_like = target.Number("cpu").has_value() ||
                    (knows_subgroups && gpu.subgroup_size <= kLargestVector);
  if (gpu.is_cpu_like) {
    // Schedules assume this number of registers if the device is a CPU. Such a
    // device has fewer in fact, but on lavapipe, which loads lane by lane, 64
    // results per invocation are 3 times as fast as 8, though most are spilled.
    gpu.registers = 88;
    gpu.workgroup_size = 8 * gpu.subgroup_size;
    const int64_t cores =
        std::max<int64_t>(1, std::thread::hardware_concurrency());
    gpu.busy_invocations = 4 * cores * gpu.workgroup_size;
  }
  int64_t processors = 0;
  if (read("processors", processors)) {
    // Number of threads that must be resident on one processor (SM) to hide the
    // latency of memory.
    constexpr int64_t kThreadsOfProcessor = 1024;
    gpu.busy_invocations = processors * kThreadsOfProcessor;
    gpu.processors = processors;
  }
  const auto has = [&](std::string_view feature) {
    return target.Has(feature);
  };
  gpu.has_dots = WidestDot(target.name(), DotKind::kBytes, has) != 0;
  if (CudaArchitecture(text) != 0) {
    gpu.processor_registers = kCudaRegisters;
    gpu.overlays_shared = true;
    gpu.transposes_matrices = false;
  }
  gpu.copies_async = CudaArchitecture(text) >= kFirstWithAsyncCopies;
  gpu.matrices = MatricesOf(text, target);
  gpu.workgroup_size = std::min(gpu.workgroup_size, gpu.max_invocations);
  return gpu;
}

}  // namespace ember::jit
