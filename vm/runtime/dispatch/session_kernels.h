// Decides which kernels a session uses; the C API and the tools share this
// policy. A provider (the JIT) compiles kernels; modules and other files
// contain native kernels.
//
//   EMBER_ASSIGN_OR_RETURN(
//       const SessionKernels kernels,
//       OpenSessionKernels(module, {.tier = KernelTier::kAuto,
//                                   .device = device,
//                                   .find_provider = LoadJit,
//                                   .natives = {.overlays = overlays}}));
//   Session::Create(module, {.device = device, .tiering = kernels.tiering});
//
// Thread-safe.
#ifndef EMBER_VM_RUNTIME_DISPATCH_SESSION_KERNELS_H_
#define EMBER_VM_RUNTIME_DISPATCH_SESSION_KERNELS_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/ed25519.h"
#include "base/status.h"
#include "hal/device.h"
#include "vm/runtime/dispatch/native_kernels.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/kernel_library.h"

namespace ember::vm {

enum class KernelTier : uint8_t {
  kInterpreter,  // there is no provider; kernels of files are used
  kBaseline,     // each dispatch is compiled quickly before its first run
  kOptimized,    // the same, with all optimisations of the compiler
  // On the host the interpreter runs while hot dispatches are compiled in the
  // background. On other devices it is the same as kOptimized, because running
  // dispatches on the host meanwhile would slow the device down.
  kAuto
};

// Says how a provider compiles kernels.
struct CompileSettings {
  // True: kernels are compiled in the background. False: calls wait for them.
  bool in_background = false;
  int threads = 0;  // number of threads that compile; 0: the calling threads
                    // compile
  CompileLocation location = CompileLocation::kThread;
  Tiering::Options policy;
};
// Says which native code of the module and its overlays may run: none, any, or
// only code that a key has signed.
struct NativePermission {
  enum Kind : uint8_t { kNone, kAny, kSigned };
  Kind kind = kNone;
  Ed25519Key key = {};  // the public key for kSigned

  auto operator<=>(const NativePermission&) const = default;
};

struct KernelOptions {
  KernelTier tier = KernelTier::kInterpreter;
  // The user's wish. kWorkerIfThere only applies to kernels that no call waits
  // for; the others are then compiled in this process.
  CompileLocation location = CompileLocation::kThread;
  std::shared_ptr<hal::Device> device = nullptr;
  NativePermission permission = {};
  // Opens the provider, unless `tier` is kInterpreter. It may change the
  // settings' policy.
  std::function<StatusOr<std::shared_ptr<KernelProvider>>(
      CompileSettings& settings)>
      find_provider = nullptr;
  // Overlays, tables, the launcher of the device, progress; the other fields
  // are ignored. Overlays need `permission`, tables are for the host.
  NativeOptions natives = {};
};

struct SessionKernels {
  std::shared_ptr<Tiering> tiering;  // null if only the interpreter runs
  bool compiles = false;             // True if there is a provider.
  // One line that says why there is no provider; or empty.
  std::string warning;
  // Nullopt if no native kernels may be used: there are no tables, and the
  // permission allows none of the module and its overlays.
  std::optional<NativeReport> natives;
};

// Error: there is no provider, and the tier needs one. kAuto runs without a
// provider on the host, and on other devices if native kernels are allowed.
StatusOr<SessionKernels> OpenSessionKernels(
    const std::shared_ptr<const Module>& module, KernelOptions options);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_SESSION_KERNELS_H_
