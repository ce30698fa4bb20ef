#include "jit/target/compile_target.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/target_text.h"
#include "hal/cpu/target.h"

namespace ember::jit {
namespace {

// The bases: the first parts of target names. Bases of one architecture are
// ordered by their number of features, fewest first: "host" takes the last one
// that runs here. LLVM gets architecture levels rather than products, since
// products have instructions that no target text mentions.
struct Base {
  std::string_view name, target, llvm;
};
constexpr Base kBases[] = {
    {"x86-64-v2", "x86_64-linux+v2", "x86_64-linux-gnu:x86-64-v2"},
    {"x86-64-v3", "x86_64-linux+v3+avx2+fma", "x86_64-linux-gnu:x86-64-v3"},
    {"x86-64-v4", "x86_64-linux+v4+avx2+fma+avx512f+avx512bw+avx512vl",
     "x86_64-linux-gnu:x86-64-v4"},
    // x18 is reserved, since Android and Apple's systems use this register
    // themselves.
    {"aarch64", "aarch64-linux+neon", "aarch64-linux-gnu:generic+reserve-x18"},
    {"armv7+neon", "armv7-linux+neon", "armv7-linux-gnueabihf:generic+neon"},
    // The features are those with which the runtime itself is built for
    // WebAssembly (toolchains/wasm_cc_config.bzl). In a web page kernels run on
    // one thread, so there is one core.
    {"wasm32+simd128", "wasm32-none+simd128+cores=1",
     "wasm32-unknown-unknown:generic+simd128+bulk-memory+sign-ext"
     "+nontrapping-fptoint+mutable-globals"},
    // The target c11 has no processor of LLVM: the C compiler decides which
    // processor the code is for (jit/c).
    {"c11", "c11", ""},
};

struct Feature {
  std::string_view base, name, target, llvm;
};
constexpr Feature kFeatures[] = {
    {"x86-64-v3", "vnni", "+avxvnni", "+avxvnni"},
    {"x86-64-v4", "vnni", "+avx512vnni", "+avx512vnni"},
    {"x86-64-v4", "bf16", "+avx512bf16", "+avx512bf16"},
    {"aarch64", "dotprod", "+dotprod", "+dotprod"},
    {"aarch64", "i8mm", "+i8mm", "+i8mm"},
    // Code is compiled for one length of SVE's vectors: 256 bits, the most
    // common one.
    {"aarch64", "sve", "+sve=256", "+sve+sve=256"},
    {"armv7+neon", "vfp4", "+vfp4", "+vfp4"},
};

// Names of the families of devices. The text of a device's target begins with
// one of them, followed by a version: "vulkan1.3".
constexpr std::string_view kDevices[] = {"vulkan", "sm_", "opencl", "metal"};

// Features of a target's text that describe the machine for schedules. Code
// runs on machines that lack them.
constexpr std::string_view kDescriptions[] = {"l1", "l2", "l3", "cores"};

// The number of cores that schedules assume if the name does not give one;
// phones have four or more. The target C gets no number: its processor is not
// known, and small ones have one core.
constexpr std::string_view kCores = "+cores=4";

bool IsDescription(std::string_view feature) {
  return std::ranges::any_of(kDescriptions, [&](std::string_view name) {
    return feature.starts_with(Concat({name, "="}));
  });
}

Status Unknown(std::string_view name, std::string_view what) {
  std::string known;
  for (const std::string& one : CompileTargetNames()) known += ", " + one;
  return InvalidArgumentError(Concat(
      {"target '", name, "': expected host", known, "; found '", what, "'"}));
}

void Add(const Feature& feature, CompileTarget& result) {
  result.name += "+";
  result.name += feature.name;
  result.target += feature.target;
  result.llvm += feature.llvm;
}

CompileTarget Of(const Base& base) {
  return {std::string(base.name), std::string(base.target),
          std::string(base.llvm)};
}

std::string HostDescription() {
  std::string description;
  const std::string host = hal::HostTarget();
  TargetText(host).ForEachFeature([&](std::string_view feature) {
    if (IsDescription(feature)) description += Concat({"+", feature});
  });
  return description;
}

Status CheckDescription(std::string_view name, std::string_view part) {
  const std::string text = Concat({"+", part});
  const std::string_view what = part.substr(0, part.find('='));
  const std::optional<int64_t> value = TargetText(text).Number(what);
  if (value && *value > 0) return OkStatus();
  return InvalidArgumentError(
      Concat({"target '", name, "': expected ",
              what == "cores" ? "a number, as in cores=8"
                              : "a number of bytes, as in l2=1024K",
              "; found '", part, "'"}));
}

StatusOr<CompileTarget> HostTarget() {
  const Base* best = nullptr;
  for (const Base& base : kBases) {
    if (hal::MissingFeatures(base.target).empty()) best = &base;
  }
  if (best == nullptr) {
    return UnimplementedError(
        Concat({"target host: there is no back end for ", hal::HostTarget()}));
  }
  CompileTarget result = Of(*best);
  const std::string kind(TargetText(best->target).name());
  for (const Feature& feature : kFeatures) {
    if (feature.base == best->name &&
        hal::MissingFeatures(Concat({kind, feature.target})).empty())
      Add(feature, result);
  }
  result.target += HostDescription();
  return result;
}

// Returns the target of a device. Checks that a digit follows the family's
// name, because back ends do not check the version.
StatusOr<CompileTarget> OfDevice(std::string_view text) {
  const TargetText target(text);
  const std::string_view name = target.name();
  const size_t digit = name.find_first_of("0123456789");
  if (digit != name.find_first_of("0123456789.") || digit >= name.size() ||
      std::ranges::find(kDevices, name.substr(0, digit)) ==
          std::end(kDevices)) {
    return InvalidArgumentError(Concat(
        {"target '", text,
         "': expected vulkan, sm_, opencl or metal with a version, found '",
         name, "'"}));
  }
  if (target.Has("emulated")) {
    return InvalidArgumentError(
        Concat({"target '", text,
                "': expected a device that files can have code of, found "
                "emulated"}));
  }
  return CompileTarget{std::string(text), std::string(text), ""};
}

}  // namespace

StatusOr<CompileTarget> FindCompileTarget(std::string_view name) {
  if (name == "host") return HostTarget();
  if (std::ranges::any_of(kDevices, [&](std::string_view device) {
        return name.starts_with(device);
      }))
    return OfDevice(name);
  const Base* found = nullptr;
  for (const Base& base : kBases) {
    if (name == base.name ||
        (name.starts_with(base.name) && name[base.name.size()] == '+'))
      found = &base;
  }
  if (found == nullptr) return Unknown(name, name);
  CompileTarget result = Of(*found);
  std::string description;
  std::string_view rest = name.substr(found->name.size());
  while (!rest.empty()) {
    const size_t end = rest.find('+', 1);
    const std::string_view part = rest.substr(1, end - 1);
    rest = end == std::string_view::npos ? "" : rest.substr(end);
    if (IsDescription(part)) {
      EMBER_RETURN_IF_ERROR(CheckDescription(name, part));
      description += Concat({"+", part});
      continue;
    }
    const Feature* match = nullptr;
    for (const Feature& feature : kFeatures) {
      if (feature.base == found->name && feature.name == part) match = &feature;
    }
    if (match == nullptr) return Unknown(name, part);
    Add(*match, result);
  }
  result.name += description;
  result.target += description;
  if (!found->llvm.empty() && !TargetText(result.target).Has("cores"))
    result.target += kCores;
  return result;
}

StatusOr<std::string> NameOfHost() {
  EMBER_ASSIGN_OR_RETURN(const CompileTarget host, HostTarget());
  return host.name + HostDescription();
}

std::vector<std::string> CompileTargetNames() {
  std::vector<std::string> names;
  for (const Base& base : kBases) {
    std::string features;
    for (const Feature& feature : kFeatures) {
      if (feature.base == base.name)
        features += Concat({features.empty() ? " (+" : ", +", feature.name});
    }
    names.push_back(Concat({base.name, features, features.empty() ? "" : ")"}));
  }
  return names;
}

}  // namespace ember::jit
