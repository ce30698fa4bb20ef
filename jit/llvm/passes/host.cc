#include "jit/llvm/passes/host.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <mutex>
#include <string_view>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/target/dot_instructions.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace ember::jit::llvm_ir {

namespace {

void SetOption(const char* name, const char* value) {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find(name);
  if (found != options.end()) found->second->addOccurrence(0, name, value);
}

void DisablePasses() {
  // Disables a pass of LLVM 19 that crashes: a masked load whose lanes all
  // prove active becomes a load without a known size, and the pass ends the
  // process when it asks for the size.
  SetOption("x86-disable-avoid-SFB", "true");
  // Disables LLVM's machine combiner. It adds integer products to each other
  // before it adds them to sums, so that registers hold products and sums at
  // once. Register tiles of 5 rows by two vectors, with four unrolled steps,
  // then take 1.4 times as long (Zen 3).
  SetOption("x86-machine-combiner", "false");
}

StatusOr<const llvm::Target*> FindTarget(const Host& host) {
  std::string error;
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(host.triple, error);
  if (target == nullptr) return Decline(DeclineReason::kTarget, error);
  return target;
}

// Returns the features in which this machine differs from LLVM's description of
// a CPU with its name. A list of all features would have the same effect, but
// LLVM parses the text for each kernel.
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
  traits.has_masks = has("avx512bw") && has("avx512vl");
  const auto dots = [&](DotKind kind) {
    return WidestDot("x86_64", kind, has);
  };
  traits.dot_product_bits = dots(DotKind::kBytes);
  traits.bfloat_product_bits = dots(DotKind::kBFloats);
  traits.pair_product_bits = dots(DotKind::kShorts);
  traits.small_product_bits = dots(DotKind::kSmallBytes);
  return traits;
}

template <typename Has>
TargetTraits TraitsOfAarch64(const Has& has, int sve_bits) {
  TargetTraits traits;
  traits.has_fma = traits.has_half_conversion = true;
  traits.has_half_arithmetic = has("fullfp16");
  traits.is_neon = true;
  // SVE with 128 bits is not used, because its vectors are no longer than those
  // of NEON.
  traits.sve_bits = sve_bits > 128 ? sve_bits : 0;
  const auto dots = [&](DotKind kind) {
    return WidestDot("aarch64", kind, has, std::max(128, sve_bits));
  };
  traits.dot_product_bits = dots(DotKind::kBytes);
  traits.has_neon_mixed_products = dots(DotKind::kMixedBytes) != 0;
  return traits;
}

// Returns the traits of a 32-bit Arm processor. They leave is_neon false,
// because it selects dot products of 64-bit Arm.
template <typename Has>
TargetTraits TraitsOfArm(const Has& has) {
  TargetTraits traits;
  traits.has_fma = has("vfp4");
  traits.has_half_conversion = has("fp16");
  traits.has_rounding = traits.has_long_integers = false;
  traits.has_division = has("hwdiv-arm");
  return traits;
}

// Returns the traits of WebAssembly, whose minima and maxima return NaN if an
// operand is a NaN.
TargetTraits TraitsOfWasm() {
  TargetTraits traits;
  traits.has_fma = traits.has_half_conversion = false;
  traits.has_rounding = traits.has_long_integers = traits.has_division = true;
  traits.has_nan_extremes = true;
  return traits;
}

// Returns the number of bits of this machine's SVE vectors; 0 if it has no SVE.
int SveBitsHere() {
#if defined(__aarch64__) && defined(__linux__)
  const int bytes = prctl(PR_SVE_GET_VL);
  return bytes < 0 ? 0 : 8 * (bytes & PR_SVE_VL_LEN_MASK);
#else
  return 0;
#endif
}

// Parses the text "triple:cpu+feature+feature", whose parts except the CPU may
// be missing.
StatusOr<Host> ParseHost(const std::string& text) {
  Host host;
  host.triple = llvm::sys::getProcessTriple();
  if (text.empty()) {
    host.cpu = llvm::sys::getHostCPUName().str();
    host.traits.sve_bits = SveBitsHere();
    return host;
  }
  std::string_view rest = text;
  if (const size_t colon = rest.find(':'); colon != std::string_view::npos) {
    // A triple such as "aarch64-linux-gnu" lacks the vendor. LLVM would take
    // "linux" for the vendor if the triple were not normalised.
    host.triple = llvm::Triple::normalize(llvm::StringRef(rest.data(), colon));
    rest.remove_prefix(colon + 1);
  }
  host.cpu = rest.substr(0, rest.find('+'));
  rest.remove_prefix(host.cpu.size());
  constexpr std::string_view kSve = "+sve=";
  while (!rest.empty()) {
    const std::string_view feature = rest.substr(0, rest.find('+', 1));
    rest.remove_prefix(feature.size());
    if (!feature.starts_with(kSve)) {
      host.features += (host.features.empty() ? "" : ",");
      host.features += feature;
    } else if (llvm::StringRef(feature.substr(kSve.size()))
                   .getAsInteger(10, host.traits.sve_bits)) {
      return Decline(DeclineReason::kTarget,
                     Concat({"expected bits after +sve=, found ", text}));
    }
  }
  return host;
}

}  // namespace

StatusOr<Host> DetectHost(const std::string& cpu) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    DisablePasses();
  });
  EMBER_ASSIGN_OR_RETURN(Host host, ParseHost(cpu));
  EMBER_ASSIGN_OR_RETURN(const llvm::Target* target, FindTarget(host));
  if (cpu.empty()) host.features = FeaturesBeside(*target, host);
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(host.triple, host.cpu, host.features));
  if (!subtarget->isCPUStringValid(host.cpu))
    return Decline(DeclineReason::kTarget,
                   Concat({"expected a CPU that LLVM knows, found ", cpu}));
  const auto has = [&](std::string_view feature) {
    return subtarget->checkFeatures("+" + std::string(feature));
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
      host.traits = TraitsOfAarch64(has, has("sve") ? host.traits.sve_bits : 0);
      return host;
    case llvm::Triple::arm:
      if (!has("neon") || has("soft-float"))
        return Decline(DeclineReason::kTarget, "expected NEON, found none");
      host.traits = TraitsOfArm(has);
      return host;
    case llvm::Triple::wasm32:
      if (!has("simd128"))
        return Decline(DeclineReason::kTarget, "expected SIMD128, found none");
      host.traits = TraitsOfWasm();
      return host;
    default:
      return Decline(DeclineReason::kTarget, host.triple);
  }
}

StatusOr<std::string> MissingHere(const Host& host) {
  const llvm::Triple here(llvm::sys::getProcessTriple());
  if (here.getArch() != llvm::Triple(host.triple).getArch())
    return llvm::Triple(host.triple).getArchName().str();
  EMBER_ASSIGN_OR_RETURN(const llvm::Target* target, FindTarget(host));
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(host.triple, host.cpu, host.features));
  std::string missing;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    const std::string name = feature.first().str();
    if (feature.second || !subtarget->checkFeatures("+" + name)) continue;
    missing += (missing.empty() ? "" : ", ") + name;
  }
  return missing;
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

}  // namespace ember::jit::llvm_ir
