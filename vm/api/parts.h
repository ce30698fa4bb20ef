// The functions of the C API that differ between its three libraries: they
// provide everything beyond the interpreter on the host. Each library links one
// of the implementations of these functions.
//
//   :ember_smallest  parts_smallest.cc: one thread, the smallest interpreter, no
//                 library functions, no strings; for small programs that
//                 bring kernels for the dispatches that must be fast
//   :ember        parts_host.cc: the host, tier 0, no strings; loads nothing
//   :ember_full   parts_full.cc: all drivers of hal/registry/drivers.h, and the optional
//                 libraries libember_jit.so and libember_strings.so, which are
//                 looked for when they are first needed (optional_library.h)
//
// Thread-safe.
#ifndef EMBER_VM_API_PARTS_H_
#define EMBER_VM_API_PARTS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/host_allocator.h"
#include "base/status.h"
#include "hal/device.h"
#include "vm/runtime/device_support.h"
#include "vm/runtime/kernel_library.h"
#include "vm/runtime/kernels/device_kernel_definition.h"
#include "vm/runtime/session.h"
#include "vm/runtime/string_support.h"

namespace ember::api {

// Opens the host as a device.
StatusOr<std::shared_ptr<hal::Device>> OpenHost(
    const hal::DeviceOptions& options, const HostAllocator& allocator);
// Returns the options with which the options of every session begin: the
// interpreter and the table of library functions.
vm::SessionOptions FirstOptions();
// Opens a device that is not the host.
StatusOr<std::shared_ptr<hal::Device>> OpenDevice(
    const std::string& name, const hal::DeviceOptions& options);
// Returns the factory of the support for sessions on devices that are not the
// host.
vm::DeviceSupportFactory DeviceSupport();
// Returns the function that loads kernels from files onto a device; null if
// this library supports no devices.
vm::DeviceLauncher KernelLauncher();
// Returns the host and all devices that OpenDevice could open, except for the
// null device, which computes nothing.
std::vector<hal::DeviceDescription> ListDevices();

// Loads libember_strings.so from `folder`; if that is empty, from the folders
// that FindLibrary lists. Returns NotFound if it is in none of them.
StatusOr<vm::StringSupportFactory> FindStrings(const std::string& folder);

// Returns the provider that compiles kernels. If options.threads is 0, the
// library is loaded at once. Otherwise the first request loads it in a thread
// of its own, and a failure to load it is the reason why requests are declined.
// Returns NotFound if the library is not found. NewKernelProviderFunction
// describes `message`.
StatusOr<std::shared_ptr<vm::KernelProvider>> FindKernels(
    const std::string& folder, const vm::KernelLibraryOptions& options,
    std::string* message);

}  // namespace ember::api

#endif  // EMBER_VM_API_PARTS_H_
