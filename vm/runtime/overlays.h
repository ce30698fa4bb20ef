// Overlay files that lie beside a module's file: kernels of one target each, so
// that a device gets only those that it can run.
//
//   std::vector<std::string> problems;
//   InstallNativeKernels(*tiering, {.overlays = FindOverlays("app/model.vmfb",
//                                                            &problems)});
//
// Beside "model.vmfb" they are "model.NAME.vmfb-overlay", whatever NAME is
// (vm-prejit --overlay writes the target's). Whether they are of this module,
// and may be used, is for InstallNativeKernels. Thread-safe.
#ifndef EMBER_VM_RUNTIME_OVERLAYS_H_
#define EMBER_VM_RUNTIME_OVERLAYS_H_

#include <string>
#include <vector>

#include "vm/format/overlay.h"

namespace ember::vm {

// Paths, by name; at most 64. Nothing is read but the folder.
std::vector<std::string> FindOverlayFiles(const std::string& module_path);

// Maps those that can be read; a line in `problems` for each of the others.
std::vector<Overlay> FindOverlays(const std::string& module_path,
                                  std::vector<std::string>* problems);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_OVERLAYS_H_
