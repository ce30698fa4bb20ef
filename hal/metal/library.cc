#include "hal/metal/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/concat.h"
#include "hal/metal/api/system.h"
#include "hal/metal/properties.h"

namespace ember::hal::metal {
namespace {

constexpr char kVariable[] = "EMBER_METAL_LIBRARY";
constexpr char kSymbol[] = "EmberMetalFunctions";

StatusOr<const Functions*> FindFunctions() {
  const char* const name = std::getenv(kVariable);
  if (name == nullptr || *name == '\0') {
    const Functions* const functions = SystemFunctions();
    if (functions != nullptr) return functions;
    return NotFoundError(
        "Metal: expected a system of Apple's, found another one; use the "
        "device vulkan or opencl here");
  }
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    return NotFoundError(
        Concat({"Metal: the library ", name, ", which ", kVariable,
                " names, cannot be opened (",
                reason == nullptr ? "no reason given" : reason, ")"}));
  }
  const auto get = reinterpret_cast<GetFunctions>(::dlsym(handle, kSymbol));
  if (get != nullptr) return get();
  return NotFoundError(Concat({"Metal: the library ", name, ", which ",
                               kVariable, " names: expected the function ",
                               kSymbol, " in it, found none"}));
}

}  // namespace

StatusOr<std::shared_ptr<const Library>> OpenLibrary() {
  EMBER_ASSIGN_OR_RETURN(const Functions* const functions, FindFunctions());
  auto library = std::make_shared<Library>(Library{.functions = *functions});
  std::string problem;
  for (const DeviceRef ref : functions->Devices()) {
    FoundDevice device = {.ref = Owned(*functions, ref),
                          .facts = functions->FactsOf(ref)};
    std::string lack = WhatItLacks(device.facts);
    if (lack.empty()) {
      library->devices.push_back(std::move(device));
    } else {
      problem = std::move(lack);
    }
  }
  if (library->devices.empty()) {
    return NotFoundError(problem.empty()
                             ? "Metal: expected a device, found none"
                             : Concat({"Metal: ", problem}));
  }
  std::ranges::stable_partition(
      library->devices,
      [](const FoundDevice& device) { return !device.facts.is_low_power; });
  return std::shared_ptr<const Library>(std::move(library));
}

}  // namespace ember::hal::metal
