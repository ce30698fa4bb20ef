#include <utility>

#include "hal/cpu/device.h"
#include "hal/registry/drivers.h"
#include "vm/api/optional_library.h"
#include "vm/api/parts.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/kernels/device_kernel.h"
#include "vm/runtime/string_library.h"

namespace ember::api {
namespace {

constexpr char kJit[] = "libember_jit.so";
constexpr char kStrings[] = "libember_strings.so";

}  // namespace

StatusOr<std::shared_ptr<hal::Device>> OpenHost(
    const hal::DeviceOptions& options, const HostAllocator& allocator) {
  return hal::CreateCpuDevice(options, allocator);
}

vm::SessionOptions FirstOptions() { return {}; }

StatusOr<std::shared_ptr<hal::Device>> OpenDevice(
    const std::string& name, const hal::DeviceOptions& options) {
  return hal::CreateDevice(name, options);
}

vm::DeviceSupportFactory DeviceSupport() { return vm::NewDeviceSupport; }

vm::DeviceLauncher KernelLauncher() { return vm::LaunchOnDevice; }

std::vector<hal::DeviceDescription> ListDevices() {
  std::vector<hal::DeviceDescription> all;
  for (const hal::Driver& driver : hal::AllDrivers()) {
    // The null driver is left out of the list, because it computes nothing.
    if (driver.name == "null") continue;
    auto devices = driver.list();
    if (!devices.ok()) continue;
    for (hal::DeviceDescription& device : *devices)
      all.push_back(std::move(device));
  }
  return all;
}

StatusOr<vm::StringSupportFactory> FindStrings(const std::string& folder) {
  EMBER_ASSIGN_OR_RETURN(const std::string path, FindLibrary(kStrings, folder));
  EMBER_ASSIGN_OR_RETURN(void* const symbol,
                         LoadSymbol(path, vm::kStringSupportSymbol));
  return reinterpret_cast<vm::FindStringSupportFunction*>(symbol)();
}

StatusOr<std::shared_ptr<vm::KernelProvider>> FindKernels(
    const std::string& folder, const vm::KernelLibraryOptions& options,
    std::string* message) {
  EMBER_ASSIGN_OR_RETURN(const std::string path, FindLibrary(kJit, folder));
  EMBER_ASSIGN_OR_RETURN(void* const symbol,
                         LoadSymbol(path, vm::kNewKernelProviderSymbol));
  std::shared_ptr<vm::KernelProvider> provider;
  if (!reinterpret_cast<vm::NewKernelProviderFunction*>(symbol)(
          options, &provider, message)) {
    return UnimplementedError(*message);
  }
  return provider;
}

}  // namespace ember::api
