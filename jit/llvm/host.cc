#include "jit/llvm/host.h"

#include <mutex>

#include "base/concat.h"
#include "jit/decline_reasons.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace ember::jit {

namespace {

void SetOption(const char* name, const char* value) {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find(name);
  if (found != options.end()) found->second->addOccurrence(0, name, value);
}

void DisablePasses() {
  // Of a masked load whose lanes turn out to be all on, LLVM 19 makes one that
  // says nothing of its size, and this pass ends the process when it asks.
  SetOption("x86-disable-avoid-SFB", "true");
  // It adds products of integers to each other before they are added to sums,
  // so that registers hold both: tiles of 5 by two vectors with four steps
  // written out take 1.4 times as long (Zen 3).
  SetOption("x86-machine-combiner", "false");
}

StatusOr<const llvm::Target*> FindTarget(const Host& host) {
  std::string error;
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(host.triple, error);
  if (target == nullptr) return Decline(DeclineReason::kTarget, error);
  return target;
}

// The features in which this machine differs from the CPU of its name. All of
// them would do as well, but LLVM reads the text once per kernel.
std::string FeaturesBeside(const llvm::Target& target, const Host& host) {
  const std::unique_ptr<llvm::MCSubtargetInfo> named(
      target.createMCSubtargetInfo(host.triple, host.cpu, ""));
  std::string result;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    const std::string name = feature.first().str();
    if (named->checkFeatures("+" + name) == feature.second) continue;
    if (!result.empty()) result += ",";
    result += (feature.second ? "+" : "-") + name;
  }
  return result;
}

template <typename Has>
TargetTraits TraitsOfX86(const Has& has) {
  TargetTraits traits;
  traits.has_fma = has("fma");
  traits.has_half_arithmetic = has("avx512fp16") && has("avx512vl");
  traits.has_half_conversion = has("f16c") || traits.has_half_arithmetic;
  if (has("avxvnni")) traits.dot_product_bits = 256;
  if (has("avx512vnni") && has("avx512vl")) traits.dot_product_bits = 512;
  if (has("avx512bf16")) {
    traits.bfloat_product_bits = has("avx512vl") ? 512 : 0;
  }
  traits.pair_product_bits = has("avx512bw") ? 512 : has("avx2") ? 256 : 128;
  traits.small_product_bits = has("avx2") ? traits.pair_product_bits : 0;
  return traits;
}

}  // namespace

StatusOr<Host> DetectHost(const std::string& cpu) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    DisablePasses();
  });
  Host host;
  const size_t colon = cpu.find(':');
  host.triple = colon == std::string::npos ? llvm::sys::getProcessTriple()
                                           : cpu.substr(0, colon);
  host.cpu = cpu.empty()                  ? llvm::sys::getHostCPUName().str()
             : colon == std::string::npos ? cpu
                                          : cpu.substr(colon + 1);
  EMBER_ASSIGN_OR_RETURN(const llvm::Target* target, FindTarget(host));
  if (cpu.empty()) host.features = FeaturesBeside(*target, host);
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(host.triple, host.cpu, host.features));
  if (!subtarget->isCPUStringValid(host.cpu))
    return Decline(DeclineReason::kTarget,
                   Concat({"expected a CPU that LLVM knows, found ", cpu}));
  const auto has = [&](const std::string& feature) {
    return subtarget->checkFeatures("+" + feature);
  };
  switch (llvm::Triple(host.triple).getArch()) {
    case llvm::Triple::x86_64:
      if (!has("sse4.1"))
        return Decline(DeclineReason::kTarget, "expected SSE4.1, found none");
      host.has_512_bits = has("avx512f");
      host.has_sign_masks = has("avx") && !has("avx512f");
      host.has_sign_masks_of_integers = has("avx2") && !has("avx512f");
      host.traits = TraitsOfX86(has);
      return host;
    case llvm::Triple::aarch64:
      host.traits.has_fma = host.traits.has_half_conversion = true;
      host.traits.has_half_arithmetic = has("fullfp16");
      host.traits.is_neon = true;
      if (has("dotprod")) host.traits.dot_product_bits = 128;
      host.traits.has_neon_mixed_products = has("i8mm");
      return host;
    default:
      return Decline(DeclineReason::kTarget, host.triple);
  }
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
