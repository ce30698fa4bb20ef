#include "vm/runtime/dispatch/session_kernels.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/concat.h"

namespace ember::vm {

CompilePlan PlanCompilation(KernelTier tier, CompilePlace place, bool is_host) {
  CompilePlan plan;
  plan.tier = tier;
  plan.is_host = is_host;
  plan.in_background = tier == KernelTier::kAuto && is_host;
  plan.place = place == CompilePlace::kWorkerIfThere && !plan.in_background
                   ? CompilePlace::kThread
                   : place;
  if (plan.in_background) {
    // Largest number of threads that compile. It is small, because on many
    // machines sessions need most of the cores.
    constexpr unsigned kMaxThreads = 4;
    plan.threads = static_cast<int>(
        std::clamp(std::thread::hardware_concurrency() / 4, 1u, kMaxThreads));
  } else {
    plan.policy = Tiering::Eager(tier == KernelTier::kBaseline ? 1 : 2);
  }
  return plan;
}

StatusOr<std::shared_ptr<Tiering>> TieringOf(
    std::shared_ptr<const Module> module, const CompilePlan& plan,
    StatusOr<std::shared_ptr<KernelProvider>> provider,
    const NativePermission& permission, std::string* warning) {
  const bool can_do_without =
      plan.tier == KernelTier::kAuto &&
      (plan.is_host || permission.kind != NativePermission::kNone);
  if (!provider.ok() && can_do_without) {
    *warning =
        Concat({plan.is_host ? "tier 0 only: " : "no kernels but of files: ",
                provider.status().message()});
    return std::shared_ptr<Tiering>();
  }
  if (!provider.ok()) return provider.status();
  return std::make_shared<Tiering>(std::move(module), *std::move(provider),
                                   plan.policy);
}

std::optional<NativeReport> AddNativeKernels(
    const std::shared_ptr<const Module>& module,
    const NativePermission& permission, NativeOptions natives,
    std::shared_ptr<Tiering>& tiering) {
  const bool is_host = natives.device == nullptr;
  natives.uses_module = permission.kind != NativePermission::kNone;
  natives.key =
      permission.kind == NativePermission::kSigned ? &permission.key : nullptr;
  if (!natives.uses_module) natives.overlays.clear();
  if (!is_host) natives.tables.clear();
  if (!natives.uses_module && natives.tables.empty()) return std::nullopt;
  if (tiering == nullptr) {
    tiering = std::make_shared<Tiering>(
        module, nullptr, is_host ? Tiering::Options{} : Tiering::Eager(2));
  }
  return InstallNativeKernels(*tiering, natives);
}

}  // namespace ember::vm
