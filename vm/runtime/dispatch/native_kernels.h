// Installs native code that a module contains (vm-prejit) in place of tier 0.
//
//   auto tiering =
//       std::make_shared<Tiering>(module, nullptr, Tiering::Options{});
//   const NativeReport report = InstallNativeKernels(*tiering);
//   Session::Create(module, {.device = device, .tiering = tiering});
//
// Calling this function is the permission to run the module's native code. The
// bytes of machine code do not reveal what it does, so it is only for modules
// whose maker is trusted, or signed them with a key that the caller gives
// (docs/prejit.md). The function checks that the sections match the module,
// that images keep their rules and fit the dispatches, and that this processor
// has the features that they need.
//
// Kernels also come from overlay files, which are sections in files of their
// own (vm/format/overlay.h) and need the same permission. A third source are
// tables that are linked into the program or in a library that it loaded
// (vm/format/native_table.h); loading them was the permission:
//
//   InstallNativeKernels(*tiering, {.uses_module = false,
//                                   .tables = {&ember_kernels_model}});
//
// Each dispatch gets, among the kernels that can run here, the one that
// requires most of the processor. Dispatches without a kernel are left to tier
// 0, or to the tiering's provider. A section that cannot be used is no failure:
// it is ignored, and the report says why. Thread-safe; a second call for one
// Tiering adds kernels only for dispatches that have none.
#ifndef EMBER_VM_RUNTIME_DISPATCH_NATIVE_KERNELS_H_
#define EMBER_VM_RUNTIME_DISPATCH_NATIVE_KERNELS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/ed25519.h"
#include "base/progress.h"
#include "base/status.h"
#include "hal/device.h"
#include "vm/format/overlay.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/kernels/device_kernel_definition.h"

namespace ember::vm {

struct NativeReport {
  int sections = 0;                  // number of sections of all kinds
  std::vector<std::string> targets;  // targets of the sections in use
  int kernels = 0;                   // number of installed kernels
  size_t dispatches = 0;             // groups of sites that now have a kernel
  size_t all_dispatches = 0;
  // One line for each refused section or kernel, with the reason.
  std::vector<std::string> refused;
  // kCancelled if NativeOptions::progress stopped the installation; some
  // kernels may be installed.
  Status status;

  // Returns "native kernels for 12 of 14 dispatches
  // (x86_64-linux+v3+avx2+fma)", or the reason why there are none.
  std::string Text() const;
};

struct NativeOptions {
  // Key that must have signed the module and its overlays
  // (vm/format/module_signature.h). Sections without its signature are refused.
  // Used during the call. Null: signatures do not matter.
  const Ed25519Key* key = nullptr;
  // True: sections of the module are used. False: they are ignored.
  bool uses_module = true;
  // Overlays of this module; those of another one are refused. Their bytes stay
  // in use.
  std::vector<Overlay> overlays = {};
  // Symbols of object files and shared libraries, which must stay loaded as
  // long as the tiering lives.
  std::vector<const void*> tables = {};
  // True: kernels are checked and tried like those of the tiering's provider.
  // False: they are used from the first call on.
  bool checks_kernels = false;
  // For a session that is not on the host: kernels for this device are used,
  // and the launcher loads them there (LaunchOnDevice of
  // vm/runtime/kernels/device_kernel.h). Tables are for the host. Null: kernels
  // of the host.
  std::shared_ptr<hal::Device> device = nullptr;
  DeviceLauncher device_launcher = nullptr;
  // Receives each section that is read and each kernel that is installed, in
  // stage "kernels". Used during the call. May be null.
  Progress* progress = nullptr;
};

// Checks that a table is for this module and that at least one of its targets
// runs on this machine. Errors: InvalidArgument for bytes that are no table or
// a table of another module; Unimplemented for another version, or if no target
// runs here, with the missing features.
Status CheckNativeTable(const Module& module, const void* symbol);

NativeReport InstallNativeKernels(Tiering& tiering,
                                  const NativeOptions& options = {});

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_NATIVE_KERNELS_H_
