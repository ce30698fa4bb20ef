#include "jit/target/gpu_model.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <thread>

namespace ember::jit {
namespace {

// Subgroups of no more invocations are lanes of a CPU's vectors, mostly.
constexpr int64_t kLargestVector = 8;

// The number behind the name ("shared32768"), or 0 if there is none, as of a
// feature; nothing if the target does not have the name.
std::optional<int64_t> ValueOf(std::string_view target, std::string_view name) {
  size_t begin = target.find('+');
  while (begin != std::string_view::npos) {
    const size_t end = std::min(target.find('+', begin + 1), target.size());
    std::string_view part = target.substr(begin + 1, end - begin - 1);
    begin = end == target.size() ? std::string_view::npos : end;
    if (!part.starts_with(name)) continue;
    part.remove_prefix(name.size());
    int64_t value = 0;
    const auto [at, error] =
        std::from_chars(part.data(), part.data() + part.size(), value);
    // Else it is a longer name.
    if (at == part.data() + part.size() &&
        (part.empty() || error == std::errc())) {
      return value;
    }
  }
  return std::nullopt;
}

// "matrix16x16x16:f16:f16:f32", one for each.
std::vector<loops::MatrixType> MatricesOf(std::string_view target) {
  constexpr std::string_view kName = "matrix";
  std::vector<loops::MatrixType> matrices;
  while (!target.empty()) {
    const size_t end = std::min(target.find('+'), target.size());
    const std::string_view part = target.substr(0, end);
    target.remove_prefix(std::min(end + 1, target.size()));
    if (!part.starts_with(kName)) continue;
    const auto type = loops::ParseMatrixType(part.substr(kName.size()));
    if (type) matrices.push_back(*type);
  }
  return matrices;
}

}  // namespace

GpuModel GpuModel::Of(std::string_view target) {
  GpuModel gpu;
  const auto read = [&](std::string_view name, int64_t& value) {
    const std::optional<int64_t> told = ValueOf(target, name);
    if (told && *told > 0) value = *told;
    return told.has_value();
  };
  const bool knows_subgroups = read("subgroup", gpu.subgroup_size);
  read("shared", gpu.shared_bytes);
  read("invocations", gpu.max_invocations);
  gpu.is_cpu_like = ValueOf(target, "cpu").has_value() ||
                    (knows_subgroups && gpu.subgroup_size <= kLargestVector);
  if (gpu.is_cpu_like) {
    // More than there are: on lavapipe, whose loads are made lane by lane, 64
    // results of an invocation are 3 times as fast as 8, though most are spilt.
    gpu.registers = 88;
    gpu.workgroup_size = 8 * gpu.subgroup_size;
    const int64_t cores =
        std::max<int64_t>(1, std::thread::hardware_concurrency());
    gpu.busy_invocations = 4 * cores * gpu.workgroup_size;
  }
  gpu.has_dots = ValueOf(target, "dot") && ValueOf(target, "fast_dot");
  gpu.matrices = MatricesOf(target);
  gpu.workgroup_size = std::min(gpu.workgroup_size, gpu.max_invocations);
  return gpu;
}

}  // namespace ember::jit
