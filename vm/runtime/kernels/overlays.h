// Finds overlay files in the folder of a module's file. Each overlay has the
// kernels of one target, so that an app ships only kernels that run on the
// user's device.
//
//   std::vector<std::string> problems;
//   InstallNativeKernels(*tiering, {.overlays = FindOverlays("app/model.vmfb",
//                                                            &problems)});
//
// The overlays of "model.vmfb" are named "model.NAME.vmfb-overlay", with any
// NAME (vm-prejit --overlay uses the name of the target). InstallNativeKernels
// checks that they belong to this module and may be used. Thread-safe.
#ifndef EMBER_VM_RUNTIME_KERNELS_OVERLAYS_H_
#define EMBER_VM_RUNTIME_KERNELS_OVERLAYS_H_

#include <string>
#include <vector>

#include "vm/format/overlay.h"

namespace ember::vm {

// Returns the paths of a module's overlay files, sorted by name; at most 64. It
// looks only in the module's folder.
std::vector<std::string> FindOverlayFiles(const std::string& module_path);

// Maps the overlay files that can be read. For each file that cannot be read, a
// line is added to `problems`.
std::vector<Overlay> FindOverlays(const std::string& module_path,
                                  std::vector<std::string>* problems);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNELS_OVERLAYS_H_
