// Native code that a module carries (vm-prejit), put in place of tier 0.
//
//   auto tiering =
//       std::make_shared<Tiering>(module, nullptr, Tiering::Options{});
//   const NativeReport report = InstallNativeKernels(*tiering);
//   Session::Create(module, {.device = device, .tiering = tiering});
//
// Calling this is the permission to run what is in the module: nobody can tell
// from its bytes what machine code does, so it is for modules whose maker is
// trusted, or who signed it with a key that the caller gives (docs/prejit.md).
// What is checked is that the sections are what the
// module says, that images keep their rules and fit the dispatches, and that
// this processor has what they need.
//
// Kernels also come from overlay files, which are sections in files of their
// own (vm/format/overlay.h), and are taken with the same permission; and from
// tables that are linked into the program or in a library that it loaded
// (vm/format/native_table.h), for which that was the permission:
//
//   InstallNativeKernels(*tiering, {.uses_module = false,
//                                   .tables = {&ember_kernels_model}});
//
// Of all of them those that run here are used, for each
// dispatch that which asks most of the processor. What has no kernel is left to
// tier 0, or to the tiering's provider. Nothing fails: a section that cannot be
// used is as if it was not there, and the report says why. Thread-safe; a
// second call for one Tiering adds only what dispatches have no kernel of yet.
#ifndef EMBER_VM_RUNTIME_NATIVE_KERNELS_H_
#define EMBER_VM_RUNTIME_NATIVE_KERNELS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/ed25519.h"
#include "base/progress.h"
#include "base/status.h"
#include "hal/device.h"
#include "vm/format/overlay.h"
#include "vm/runtime/device_kernel_definition.h"
#include "vm/runtime/tiering.h"

namespace ember::vm {

struct NativeReport {
  int sections = 0;                  // that there are, of all kinds
  std::vector<std::string> targets;  // of the sections that are used
  int kernels = 0;                   // that were installed
  size_t dispatches = 0;             // groups of sites that have one now
  size_t all_dispatches = 0;
  // One line each: which section, or which kernel of it, and why not.
  std::vector<std::string> refused;
  // kCancelled: NativeOptions::progress stopped it; some may be installed.
  Status status;

  // "native kernels for 12 of 14 dispatches (x86_64-linux+v3+avx2+fma)", or
  // why there are none.
  std::string Text() const;
};

struct NativeOptions {
  // The permission for module and overlays holds only for what is signed by
  // this key (vm/format/module_signature.h); null: it holds for any. Used
  // during the call.
  const Ed25519Key* key = nullptr;
  // Sections of the module. False: what they are is as if they were not there.
  bool uses_module = true;
  // For this module; those of another one are refused. Their bytes stay in use.
  std::vector<Overlay> overlays = {};
  // Symbols of object files and shared libraries, which must stay loaded as
  // long as the tiering lives.
  std::vector<const void*> tables = {};
  // Kernels are checked and tried as those of the tiering's provider are;
  // otherwise they are used as they are, from the first call on.
  bool checks_kernels = false;
  // Of a session that is not on the host: kernels for this device, which the
  // launcher puts there (LaunchOnDevice of device_kernel.h). Tables are for the
  // host. Null: kernels of the host.
  std::shared_ptr<hal::Device> device = nullptr;
  DeviceLauncher device_launcher = nullptr;
  // Told of each section that is read and each kernel that is installed, in
  // stage "kernels". Used during the call. Null: nobody.
  Progress* progress = nullptr;
};

// Whether a table is one for this module of which something runs on this
// machine. Errors: InvalidArgument for what is no table or one of another
// module, Unimplemented for another version, or where no target of it runs
// here, with what is missing.
Status CheckNativeTable(const Module& module, const void* symbol);

NativeReport InstallNativeKernels(Tiering& tiering,
                                  const NativeOptions& options = {});

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_NATIVE_KERNELS_H_
