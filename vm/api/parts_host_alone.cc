// Implements the parts for libraries that only support the host: devices,
// strings and kernels return errors.
#include "vm/api/parts.h"

namespace ember::api {

StatusOr<std::shared_ptr<hal::Device>> OpenDevice(
    const std::string& name, const hal::DeviceOptions& options) {
  return NotFoundError("device '" + name +
                       "': expected 'cpu', as this library was built without "
                       "others");
}

vm::DeviceSupportFactory DeviceSupport() { return nullptr; }

vm::DeviceLauncher KernelLauncher() { return nullptr; }

StatusOr<vm::StringSupportFactory> FindStrings(const std::string& folder) {
  return UnimplementedError(
      "session: expected a module without strings, as this library was built "
      "without them");
}

StatusOr<std::shared_ptr<vm::KernelProvider>> FindKernels(
    const std::string& folder, const vm::KernelLibraryOptions& options,
    std::string* message) {
  return NotFoundError(
      "kernels: expected tier 0, as this library was built without the others");
}

}  // namespace ember::api
