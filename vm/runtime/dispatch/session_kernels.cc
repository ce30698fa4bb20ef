#include "vm/runtime/dispatch/session_kernels.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/concat.h"

namespace ember::vm {
namespace {

CompileSettings SettingsFor(KernelTier tier, CompileLocation location,
                            bool is_host) {
  CompileSettings settings;
  settings.in_background = tier == KernelTier::kAuto && is_host;
  settings.location =
      location == CompileLocation::kWorkerIfThere && !settings.in_background
          ? CompileLocation::kThread
          : location;
  if (settings.in_background) {
    // Largest number of threads that compile. It is small, because on many
    // machines sessions need most of the cores.
    constexpr unsigned kMaxThreads = 4;
    settings.threads = static_cast<int>(
        std::clamp(std::thread::hardware_concurrency() / 4, 1u, kMaxThreads));
  } else {
    settings.policy = Tiering::Eager(tier == KernelTier::kBaseline ? 1 : 2);
  }
  return settings;
}

// Adds kernels of files to the tiering, which is made if it is null.
std::optional<NativeReport> AddNativeKernels(
    const std::shared_ptr<const Module>& module, KernelOptions& options,
    std::shared_ptr<Tiering>& tiering) {
  const bool is_host = options.device->is_host();
  const NativePermission& permission = options.permission;
  NativeOptions& natives = options.natives;
  natives.uses_module = permission.kind != NativePermission::kNone;
  natives.key =
      permission.kind == NativePermission::kSigned ? &permission.key : nullptr;
  natives.device = is_host ? nullptr : options.device;
  if (!natives.uses_module) natives.overlays.clear();
  if (!is_host) natives.tables.clear();
  if (!natives.uses_module && natives.tables.empty()) return std::nullopt;
  if (tiering == nullptr) {
    tiering = std::make_shared<Tiering>(
        module, nullptr, is_host ? Tiering::Options{} : Tiering::Eager(2));
  }
  return InstallNativeKernels(*tiering, natives);
}

}  // namespace

StatusOr<SessionKernels> OpenSessionKernels(
    const std::shared_ptr<const Module>& module, KernelOptions options) {
  SessionKernels kernels;
  if (options.tier != KernelTier::kInterpreter) {
    const bool is_host = options.device->is_host();
    CompileSettings settings =
        SettingsFor(options.tier, options.location, is_host);
    StatusOr<std::shared_ptr<KernelProvider>> provider =
        options.find_provider(settings);
    const bool can_do_without =
        options.tier == KernelTier::kAuto &&
        (is_host || options.permission.kind != NativePermission::kNone);
    if (provider.ok()) {
      kernels.compiles = true;
      kernels.tiering = std::make_shared<Tiering>(module, *std::move(provider),
                                                  settings.policy);
    } else if (can_do_without) {
      kernels.warning =
          Concat({is_host ? "tier 0 only: " : "only kernels of files: ",
                  provider.status().message()});
    } else {
      return provider.status();
    }
  }
  kernels.natives = AddNativeKernels(module, options, kernels.tiering);
  return kernels;
}

}  // namespace ember::vm
