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
  kInterpreter,  // no kernels are compiled, but kernels of files are used
  kBaseline,     // each dispatch is compiled quickly before its first run
  kOptimized,    // like kBaseline, but with all optimisations of the compiler
  // kAuto: on the host the interpreter runs while hot dispatches are compiled
  // in the background. On other devices it is the same as kOptimized, because
  // running dispatches on the host meanwhile would slow the device down.
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
  // The user's choice of the process that compiles. kWorkerIfThere applies only
  // to kernels that no call waits for; kernels that calls wait for are compiled
  // in this process.
  CompileLocation location = CompileLocation::kThread;
  std::shared_ptr<hal::Device> device = nullptr;
  NativePermission permission = {};
  // A function that opens the provider. It is called unless `tier` is
  // kInterpreter, and may change settings.policy, the policy of requests.
  std::function<StatusOr<std::shared_ptr<KernelProvider>>(
      CompileSettings& settings)>
      find_provider = nullptr;
  // Options for native kernels. Only the overlays, tables, launcher of the
  // device and progress are used. Overlays need `permission`; tables are for
  // the host only.
  NativeOptions natives = {};
};

struct SessionKernels {
  std::shared_ptr<Tiering> tiering;  // null if the interpreter runs all
                                     // dispatches
  bool compiles = false;             // true if a provider was opened
  // Reason why no provider was opened, in one line; empty if one was opened or
  // none is needed.
  std::string warning;
  // Report on the installed native kernels. Nullopt if none may be used: there
  // are no tables, and `permission` allows no code of the module and its
  // overlays.
  std::optional<NativeReport> natives;
};

// Opens the provider and installs native kernels, as the options say. Returns
// an error if the tier needs a provider and there is none. kAuto runs without a
// provider on the host, and on other devices if native kernels are allowed.
StatusOr<SessionKernels> OpenSessionKernels(
    const std::shared_ptr<const Module>& module, KernelOptions options);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_SESSION_KERNELS_H_
