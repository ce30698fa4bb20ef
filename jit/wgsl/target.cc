#include "jit/wgsl/target.h"

#include <optional>

#include "base/target_text.h"

namespace ember::jit::wgsl {
namespace {

// The limits of every WebGPU adapter (WebGPU, section "Limits").
constexpr int64_t kLeastInvocations = 256;

}  // namespace

Target Target::Of(std::string_view text) {
  const TargetText features(text);
  Target target;
  target.invocations = kLeastInvocations;
  const auto read = [&](std::string_view name, int64_t& value) {
    const std::optional<int64_t> found = features.Number(name);
    if (found && *found > 0) value = *found;
  };
  read("shared", target.shared_bytes);
  read("invocations", target.invocations);
  read("buffers", target.storage_buffers);
  return target;
}

}  // namespace ember::jit::wgsl
