// Implements the functions that add kernels which are not in the module's file.
#include <utility>

#include "vm/api/handles.h"
#include "vm/format/module_identity.h"
#include "vm/runtime/dispatch/native_kernels.h"

namespace ember::api {
namespace {

// Returns an error if a session of the module has been created. The caller must
// hold the module's mutex.
Status CheckHasNoSessions(const EmberModule& module) {
  if (!module.has_sessions) return OkStatus();
  return FailedPreconditionError(
      "kernels: expected them before the module's first session, found one");
}

Status AddKernels(EmberModule& module, const void* kernels) {
  EMBER_RETURN_IF_ERROR(vm::CheckNativeTable(*module.module, kernels));
  const std::lock_guard<std::mutex> lock(module.mutex);
  EMBER_RETURN_IF_ERROR(CheckHasNoSessions(module));
  module.tables.push_back(kernels);
  return OkStatus();
}

Status AddOverlay(EmberModule& module, const char* path) {
  EMBER_ASSIGN_OR_RETURN(vm::Overlay overlay, vm::ReadOverlay(path));
  EMBER_RETURN_IF_ERROR(
      vm::CheckIdentity(vm::IdentityOf(module.module->definition()),
                        overlay.module)
          .WithContext(path));
  const std::lock_guard<std::mutex> lock(module.mutex);
  EMBER_RETURN_IF_ERROR(CheckHasNoSessions(module));
  module.overlays.push_back(std::move(overlay));
  return OkStatus();
}

}  // namespace

EmberStatus ModuleAddKernels(EmberModule* module, const EmberKernels* kernels) {
  if (module == nullptr || kernels == nullptr)
    return Report(NullError("module_add_kernels"));
  return Report(AddKernels(*module, kernels));
}

EmberStatus ModuleAddOverlay(EmberModule* module, const char* path) {
  if (module == nullptr || path == nullptr)
    return Report(NullError("module_add_overlay"));
  return Report(AddOverlay(*module, path));
}

}  // namespace ember::api
