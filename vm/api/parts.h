// What a library of the C API can do beyond the interpreter on the host: chosen
// when it is linked, by one of the three implementations of these functions.
//
//   :ember_smallest  parts_smallest.cc: one thread, the smallest interpreter, no
//                 library functions, no strings; for small programs that
//                 bring kernels for what has to be fast
//   :ember        parts_host.cc: the host, tier 0, no strings; loads nothing
//   :ember_full   parts_full.cc: all drivers of hal/drivers.h, and the optional
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
#include "vm/runtime/device_kernel_definition.h"
#include "vm/runtime/device_support.h"
#include "vm/runtime/kernel_library.h"
#include "vm/runtime/session.h"
#include "vm/runtime/string_support.h"

namespace ember::api {

// The host's.
StatusOr<std::shared_ptr<hal::Device>> OpenHost(
    const hal::DeviceOptions& options, const HostAllocator& allocator);
// What sessions begin with: the interpreter and the library of functions.
vm::SessionOptions FirstOptions();
// Of a device that is not the host's.
StatusOr<std::shared_ptr<hal::Device>> OpenDevice(
    const std::string& name, const hal::DeviceOptions& options);
// Of sessions on it.
vm::DeviceSupportFactory DeviceSupport();
// Puts kernels of files there. Null where there are no such devices.
vm::DeviceLauncher KernelLauncher();
// All that OpenDevice could open, and the host's.
std::vector<hal::DeviceDescription> ListDevices();

// folder: of the library; empty: the usual places. NotFound where there is
// none.
StatusOr<vm::StringSupportFactory> FindStrings(const std::string& folder);

// Who compiles kernels: loads the library at once if options.threads is 0, else
// with the first request, in a thread of its own; what goes wrong then is why
// requests are declined. NotFound where there is no library. message: as that
// of a NewKernelProviderFunction.
StatusOr<std::shared_ptr<vm::KernelProvider>> FindKernels(
    const std::string& folder, const vm::KernelLibraryOptions& options,
    std::string* message);

}  // namespace ember::api

#endif  // EMBER_VM_API_PARTS_H_
