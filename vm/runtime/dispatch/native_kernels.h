// Installs the native code that a module contains (vm-prejit), so that sessions
// use it instead of tier 0.
//
//   auto tiering =
//       std::make_shared<Tiering>(module, nullptr, Tiering::Options{});
//   const NativeReport report = InstallNativeKernels(*tiering);
//   Session::Create(module, {.device = device, .tiering = tiering});
//
// A call of this function permits the module's native code to run.
// The effects of machine code cannot be checked, so call the function only for
// modules whose maker is trusted, or who signed them with a key that the caller
// passes (docs/prejit.md). The function checks that the sections match the
// module, that images are valid and fit the dispatches, and that this processor
// has the features that the images need.
//
// Kernels also come from overlay files, which are sections in files of their
// own (vm/format/overlay.h) and need the same permission. A third source of
// kernels are tables that are linked into the program or are in a library that
// it loaded (vm/format/native_table.h). They need no further permission:
//
//   InstallNativeKernels(*tiering, {.uses_module = false,
//                                   .tables = {&ember_kernels_model}});
//
// Each dispatch gets, among the kernels that can run here, the one that
// requires most of the processor. Dispatches without a kernel run at tier 0, or
// with kernels of the tiering's provider. A section that cannot be used is no
// failure: it is ignored, and the report says why. Thread-safe; a second call
// for one Tiering adds kernels only for dispatches that have none.
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
  int sections = 0;                  // number of sections from all sources
                                     // (module, overlays, tables)
  std::vector<std::string> targets;  // targets of the sections whose kernels
                                     // are used
  int kernels = 0;                   // number of kernels that were installed
  size_t dispatches = 0;             // number of groups of sites that have a
                                     // kernel now
  size_t all_dispatches = 0;
  // One line for each refused section or kernel, with the reason.
  std::vector<std::string> refused;
  // The outcome of the installation. It is kCancelled if
  // NativeOptions::progress stopped it; some kernels may be installed in this
  // case.
  Status status;

  // Returns a text such as "native kernels for 12 of 14 dispatches
  // (x86_64-linux+v3+avx2+fma)", or the reason why there are no native kernels.
  std::string Text() const;
};

struct NativeOptions {
  // Key that must have signed the module and its overlays
  // (vm/format/module_signature.h). Sections without a signature by this key
  // are refused. The pointer is used during the call only. Null: signatures are
  // not checked.
  const Ed25519Key* key = nullptr;
  // True: sections of the module are used. False: they are ignored.
  bool uses_module = true;
  // Overlays of the module; overlays of another module are refused. Their bytes
  // stay in use after the call.
  std::vector<Overlay> overlays = {};
  // Addresses of symbols in object files and shared libraries (tables of
  // kernels). The code must stay loaded as long as the tiering exists.
  std::vector<const void*> tables = {};
  // True: native kernels are checked and timed like those of the tiering's
  // provider. False: they are used from the first call on.
  bool checks_kernels = false;
  // Device of the session, if it is not the host: the kernels for this device
  // are loaded by the launcher (LaunchOnDevice of
  // vm/runtime/kernels/device_kernel.h). Tables, which are for the host, are
  // then ignored. Null: kernels for the host are installed.
  std::shared_ptr<hal::Device> device = nullptr;
  DeviceLauncher device_launcher = nullptr;
  // Receives a step of the stage "kernels" for each section that is read and
  // each kernel that is installed. It is used during the call only, and may be
  // null.
  Progress* progress = nullptr;
};

// Checks that a table of kernels is for this module and that at least one of
// its targets runs on this machine. Errors: InvalidArgument for bytes that are
// no table, or for a table of another module; Unimplemented for a table of
// another version, or if no target runs here, with the missing features.
Status CheckNativeTable(const Module& module, const void* symbol);

NativeReport InstallNativeKernels(Tiering& tiering,
                                  const NativeOptions& options = {});

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_NATIVE_KERNELS_H_
