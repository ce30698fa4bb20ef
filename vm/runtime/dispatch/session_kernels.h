// Decides which kernels a session uses; the C API and the tools share this
// policy. A provider (the JIT) compiles kernels, and files bring native ones.
//
//   const CompilePlan plan = PlanCompilation(KernelTier::kAuto, place, is_host);
//   std::string warning;
//   EMBER_ASSIGN_OR_RETURN(
//       std::shared_ptr<Tiering> tiering,
//       TieringOf(module, plan, provider, permission, &warning));
//   AddNativeKernels(module, permission, {.overlays = overlays}, tiering);
//   Session::Create(module, {.device = device, .tiering = tiering});
//
// Thread-safe.
#ifndef EMBER_VM_RUNTIME_DISPATCH_SESSION_KERNELS_H_
#define EMBER_VM_RUNTIME_DISPATCH_SESSION_KERNELS_H_

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/ed25519.h"
#include "base/status.h"
#include "vm/runtime/dispatch/native_kernels.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/kernel_library.h"

namespace ember::vm {

enum class KernelTier : uint8_t {
  kInterpreter,  // there is no provider
  kBaseline,     // each dispatch is compiled quickly before its first run
  kOptimized,    // the same, with all optimisations of the compiler
  // On the host the interpreter runs while hot dispatches are compiled in the
  // background. Other devices use kOptimized, because an interpreter on the
  // host would slow the device down.
  kAuto
};

// The way in which a provider compiles kernels.
struct CompilePlan {
  KernelTier tier = KernelTier::kAuto;
  bool is_host = true;
  // True: kernels are compiled in the background. False: calls wait for them.
  bool in_background = false;
  int threads = 0;  // 0: the calling threads compile
  CompilePlace place = CompilePlace::kThread;
  Tiering::Options policy;
};
// `place` is the user's wish. kWorkerIfThere only applies to kernels that no
// call waits for; the others are then compiled in this process.
CompilePlan PlanCompilation(KernelTier tier, CompilePlace place, bool is_host);

// The native code of the module and its overlays that may run: none, any, or
// the code that a key signed.
struct NativePermission {
  enum Kind : uint8_t { kNone, kAny, kSigned };
  Kind kind = kNone;
  Ed25519Key key = {};  // the key for kSigned

  auto operator<=>(const NativePermission&) const = default;
};

// Returns null, and the reason in `warning`, if there is no provider and kAuto
// does not need one: on the host, or if `permission` allows native kernels.
StatusOr<std::shared_ptr<Tiering>> TieringOf(
    std::shared_ptr<const Module> module, const CompilePlan& plan,
    StatusOr<std::shared_ptr<KernelProvider>> provider,
    const NativePermission& permission, std::string* warning);

// Adds native kernels to the tiering. Makes a tiering if it is null and there
// may be native kernels. Returns nothing if none may be used: there are no
// tables, and `permission` allows none of the module and its overlays.
// `permission` decides uses_module and key of `natives`, whose values are
// ignored; without permission its overlays are ignored, too. A device that is
// not the host uses no tables.
std::optional<NativeReport> AddNativeKernels(
    const std::shared_ptr<const Module>& module,
    const NativePermission& permission, NativeOptions natives,
    std::shared_ptr<Tiering>& tiering);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_SESSION_KERNELS_H_
