#include "tests/cases/nest_after_pass.h"

#include "base/concat.h"
#include "jit/gpu/device_passes.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/ptx/target.h"
#include "jit/spirv/target.h"

namespace ember::cases {
namespace {

StatusOr<jit::gpu::DeviceTraits> DeviceOf(std::string_view target) {
  if (target.starts_with("sm_"))
    return jit::gpu::DeviceTraits(jit::ptx::Target::Of(target));
  if (target.starts_with("vulkan"))
    return jit::gpu::DeviceTraits(jit::spirv::Target::Of(target));
  return InvalidArgumentError(
      Concat({"expected a target sm_… or vulkan…, found '", target, "'"}));
}

}  // namespace

StatusOr<std::string> NestAfterPass(const loops::LoopNest& nest,
                                    std::string_view pass,
                                    std::string_view target) {
  EMBER_ASSIGN_OR_RETURN(const jit::gpu::DeviceTraits device, DeviceOf(target));
  loops::LoopNest result = nest;
  for (const jit::gpu::DevicePass& row : jit::gpu::kDevicePasses) {
    EMBER_RETURN_IF_ERROR(row.run(device, result));
    EMBER_RETURN_IF_ERROR(loops::Verify(result));
    if (row.name != pass) continue;
    const std::string text = loops::ToText(result);
    EMBER_ASSIGN_OR_RETURN(const loops::LoopNest parsed, loops::Parse(text));
    if (loops::ToText(parsed) == text) return text;
    return InvalidArgumentError(
        Concat({"expected a text that parses back:\n", text}));
  }
  return InvalidArgumentError(Concat(
      {"expected a pass of jit/gpu/device_passes.h, found '", pass, "'"}));
}

}  // namespace ember::cases
