#include "jit/opencl/target.h"

#include <cstdint>
#include <optional>

#include "base/target_text.h"

namespace ember::jit::opencl {
namespace {

// Alignment in bytes of each buffer in the workgroup's memory.
constexpr int64_t kSharedAlignment = 16;

}  // namespace

Target Target::Of(std::string_view text) {
  const TargetText features(text);
  Target target;
  const auto read = [&](std::string_view name, int64_t& value) {
    const std::optional<int64_t> found = features.Number(name);
    if (found && *found > 0) value = *found;
  };
  read("shared", target.shared_bytes);
  read("invocations", target.invocations);
  read("subgroup", target.subgroup_size);
  target.f64 = features.Has("f64");
  target.keeps_elements = true;
  target.shared_alignment = kSharedAlignment;
  return target;
}

}  // namespace ember::jit::opencl
