// The policy for the kernels of a session, which the C API and the tools share.
// A provider (the JIT) compiles kernels, and files bring native ones.
//
//   const CompilePlan plan = PlanCompilation(KernelTier::kAuto, place, is_host);
//   std::string warning;
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<Tiering> tiering,
//                          TieringOf(module, plan, NewProvider(plan), &warning));
//   AddNativeKernels(module, permission, {.overlays = overlays}, tiering);
//   Session::Create(module, {.device = device, .tiering = tiering});
//
// Thread-safe.
#ifndef EMBER_VM_RUNTIME_SESSION_KERNELS_H_
#define EMBER_VM_RUNTIME_SESSION_KERNELS_H_

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/ed25519.h"
#include "base/status.h"
#include "vm/runtime/kernel_library.h"
#include "vm/runtime/native_kernels.h"
#include "vm/runtime/tiering.h"

namespace ember::vm {

enum class KernelTier : uint8_t {
  kInterpreter,  // no provider
  kBaseline,     // each dispatch is compiled quickly before it runs first
  kOptimized,    // the same with everything that the compiler has
  // On the host the interpreter, while hot dispatches are compiled beside it.
  // On other devices kOptimized, as an interpreter on the host would slow the
  // device down.
  kAuto
};

// How a provider compiles.
struct CompilePlan {
  KernelTier tier = KernelTier::kAuto;
  bool is_host = true;
  // Kernels are made beside the calls. Otherwise calls wait for them.
  bool in_background = false;
  int threads = 0;  // 0: those that call
  CompilePlace place = CompilePlace::kThread;
  Tiering::Options policy;
};
// place: the wish of the user. kWorkerIfThere is for kernels that no call waits
// for; others are then compiled in this process.
CompilePlan PlanCompilation(KernelTier tier, CompilePlace place, bool is_host);

// The native code of the module and its overlays that may run: none, any, or
// the code that a key signed.
struct NativePermission {
  enum Kind : uint8_t { kNone, kAny, kSigned };
  Kind kind = kNone;
  Ed25519Key key = {};  // of kSigned

  auto operator<=>(const NativePermission&) const = default;
};

// Returns null, and why in `warning`, where kAuto has found no provider and can
// do without: on the host, or with native kernels, which `permission` allows.
StatusOr<std::shared_ptr<Tiering>> TieringOf(
    std::shared_ptr<const Module> module, const CompilePlan& plan,
    StatusOr<std::shared_ptr<KernelProvider>> provider,
    const NativePermission& permission, std::string* warning);

// Adds native kernels to the tiering, which is made if it is null and there may
// be some. Returns nothing if none may be used: without permission for those of
// the module and its overlays, and without tables. Of `natives`, uses_module
// and key are set here, and overlays are ignored without permission. A device
// that is not the host uses no tables.
std::optional<NativeReport> AddNativeKernels(
    const std::shared_ptr<const Module>& module,
    const NativePermission& permission, NativeOptions natives,
    std::shared_ptr<Tiering>& tiering);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_SESSION_KERNELS_H_
