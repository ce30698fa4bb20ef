// CUDA's driver library, opened when the first device is needed: libcuda.so.1,
// or the library that the environment variable EMBER_CUDA_LIBRARY names; or the
// emulated one (emulated/emulated_cuda.h), which is part of this process.
//
//   EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const Library> library,
//                          OpenLibrary());
//   library->cu.DeviceGetCount(&count);
//
// A library is never unloaded, because it has threads of its own. Errors:
// NotFound if the library, one of its functions, or a device is missing, or if
// the driver is older than kOldestDriver. Thread-safe while the environment
// does not change.
#ifndef EMBER_HAL_CUDA_LIBRARY_H_
#define EMBER_HAL_CUDA_LIBRARY_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "hal/cuda/api/functions.h"

namespace ember::hal::cuda {

// The oldest CUDA version whose driver is accepted, as 1000 * major + 10 *
// minor.
inline constexpr int kOldestDriver = 11040;

struct Library {
  Functions cu;
  // True if kernels are code of this process (format "emulated-grid").
  bool is_emulated = false;
  int driver_version = 0;
  int device_count = 0;  // number of CUDA devices, at least 1
};

// Returns a version number as text, such as "11.4" for 11040.
std::string VersionText(int version);

StatusOr<std::shared_ptr<const Library>> OpenLibrary();
StatusOr<std::shared_ptr<const Library>> OpenEmulatedLibrary();

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_LIBRARY_H_
