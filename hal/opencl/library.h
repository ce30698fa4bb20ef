// OpenCL's loader, opened when the first device is needed: libOpenCL.so.1, or
// the library that the environment variable EMBER_OPENCL_LIBRARY names. The
// loader finds the machine's drivers (ICDs), which are its platforms.
//
//   EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const Library> library,
//                          OpenLibrary());
//   library->devices[0];
//
// A library is never unloaded, because drivers have threads of their own.
// Errors: NotFound if the library, one of its functions, a platform or a device
// is missing, or if all devices are too old. Thread-safe while the environment
// does not change.
#ifndef EMBER_HAL_OPENCL_LIBRARY_H_
#define EMBER_HAL_OPENCL_LIBRARY_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "hal/opencl/api/functions.h"
#include "hal/opencl/properties.h"

namespace ember::hal::opencl {

struct FoundDevice {
  cl_device_id id = nullptr;
  DeviceProperties properties;
};

struct Library {
  Functions cl;
  // The devices of all platforms that the driver can use, at least one: GPUs,
  // then all others, each in the loader's order.
  std::vector<FoundDevice> devices;
};

StatusOr<std::shared_ptr<const Library>> OpenLibrary();

}  // namespace ember::hal::opencl

#endif  // EMBER_HAL_OPENCL_LIBRARY_H_
