#include "jit/te_api/targets.h"

#include "base/concat.h"
#include "hal/cpu/target.h"
#include "jit/target/compile_target.h"

namespace ember::te_api {
namespace {

constexpr std::string_view kHost = "host";

}  // namespace

StatusOr<std::string> TargetText(std::string_view name) {
  if (name == kHost) return hal::HostTarget();
  EMBER_ASSIGN_OR_RETURN(jit::CompileTarget target,
                         jit::FindCompileTarget(name));
  return std::move(target.target);
}

StatusOr<std::string> TargetForCode(std::string_view name) {
  if (name == kHost) return hal::HostTarget();
  EMBER_ASSIGN_OR_RETURN(jit::CompileTarget target,
                         jit::FindCompileTarget(name));
  if (target.llvm.empty()) return std::move(target.target);
  return UnimplementedError(Concat(
      {"target ", name,
       ": expected this machine (host), c11 or a device (vulkan..., "
       "sm_..., opencl..., metal...), found a processor; c11 gives C for any "
       "processor"}));
}

}  // namespace ember::te_api
