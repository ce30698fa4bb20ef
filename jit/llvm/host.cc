#include "jit/llvm/host.h"

#include <mutex>

#include "base/concat.h"
#include "jit/decline_reasons.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace ember::jit {

namespace {

StatusOr<const llvm::Target*> FindTarget(const Host& host) {
  std::string error;
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(host.triple, error);
  if (target == nullptr) return Decline(DeclineReason::kTarget, error);
  return target;
}

// The features in which this machine differs from the CPU of its name. All of
// them would do as well, but LLVM reads the text once per kernel.
StatusOr<std::string> FeaturesBeside(const Host& host,
                                     const llvm::StringMap<bool>& features) {
  EMBER_ASSIGN_OR_RETURN(const llvm::Target* target, FindTarget(host));
  const std::unique_ptr<llvm::MCSubtargetInfo> named(
      target->createMCSubtargetInfo(host.triple, host.cpu, ""));
  std::string result;
  for (const auto& feature : features) {
    const std::string name = feature.first().str();
    if (named->checkFeatures("+" + name) == feature.second) continue;
    if (!result.empty()) result += ",";
    result += (feature.second ? "+" : "-") + name;
  }
  return result;
}

}  // namespace

StatusOr<Host> DetectHost() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  Host host;
  host.triple = llvm::sys::getProcessTriple();
  host.cpu = llvm::sys::getHostCPUName().str();
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  EMBER_ASSIGN_OR_RETURN(host.features, FeaturesBeside(host, features));
  const auto has = [&](const char* feature) {
    const auto found = features.find(feature);
    return found != features.end() && found->second;
  };
  const llvm::Triple triple(host.triple);
  if (triple.getArch() == llvm::Triple::x86_64) {
    if (!has("sse4.1"))
      return Decline(DeclineReason::kTarget, "expected SSE4.1, found none");
    host.has_512_bits = has("avx512f");
    host.traits = {.has_fma = has("fma"),
                   .has_half_conversion = has("f16c") || has("avx512fp16")};
    return host;
  }
  if (triple.getArch() == llvm::Triple::aarch64) {
    host.traits = {.has_fma = true, .has_half_conversion = true};
    return host;
  }
  return Decline(DeclineReason::kTarget, host.triple);
}

StatusOr<std::unique_ptr<llvm::TargetMachine>> CreateMachine(const Host& host,
                                                             Effort effort) {
  EMBER_ASSIGN_OR_RETURN(const llvm::Target* target, FindTarget(host));
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      host.triple, host.cpu, host.features, llvm::TargetOptions(),
      llvm::Reloc::PIC_, llvm::CodeModel::Small,
      effort == Effort::kFull ? llvm::CodeGenOptLevel::Default
                              : llvm::CodeGenOptLevel::Less,
      /*JIT=*/true));
  if (machine == nullptr) return Decline(DeclineReason::kTarget, host.triple);
  return machine;
}

}  // namespace ember::jit
