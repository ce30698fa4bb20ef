#include "hal/cuda/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "base/concat.h"
#include "hal/cuda/api/result.h"
#include "hal/cuda/emulated/emulated_cuda.h"

namespace ember::hal::cuda {
namespace {

// Initialises CUDA with a library whose functions have been found, and checks
// its version and devices.
StatusOr<std::shared_ptr<const Library>> Start(Library library) {
  // This environment variable makes the driver seem like an older one, without
  // tensor maps.
  const char* const without = std::getenv("EMBER_CUDA_WITHOUT_TENSOR_MAPS");
  if (without != nullptr && *without != '\0')
    library.cu.TensorMapEncodeTiled = nullptr;
  EMBER_RETURN_IF_ERROR(ResultStatus("cuInit", library.cu.Init(0)));
  EMBER_RETURN_IF_ERROR(
      ResultStatus("cuDriverGetVersion",
                   library.cu.DriverGetVersion(&library.driver_version)));
  if (library.driver_version < kOldestDriver) {
    return NotFoundError(Concat(
        {"CUDA: expected a driver for CUDA ", VersionText(kOldestDriver),
         " or newer, found one for ", VersionText(library.driver_version)}));
  }
  EMBER_RETURN_IF_ERROR(ResultStatus(
      "cuDeviceGetCount", library.cu.DeviceGetCount(&library.device_count)));
  if (library.device_count <= 0)
    return NotFoundError("CUDA: expected a device, found none");
  return std::make_shared<const Library>(library);
}

}  // namespace

std::string VersionText(int version) {
  return Concat({version / 1000, ".", version % 1000 / 10});
}

StatusOr<std::shared_ptr<const Library>> OpenLibrary() {
  const char* const given = std::getenv("EMBER_CUDA_LIBRARY");
  const bool is_given = given != nullptr && *given != '\0';
  const char* const name = is_given ? given : "libcuda.so.1";
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    return NotFoundError(
        Concat({"CUDA's driver, ", name, ", cannot be opened (",
                reason == nullptr ? "no reason given" : reason, "); ",
                is_given ? "EMBER_CUDA_LIBRARY names it"
                         : "NVIDIA's driver brings it; without a GPU, "
                           "cuda-emulated runs the same kernels, slowly"}));
  }
  Library library;
  library.is_emulated = ::dlsym(handle, kEmulatedMark) != nullptr;
#define EMBER_CUDA_LOAD(function, symbol, parameters)                     \
  library.cu.function =                                                   \
      reinterpret_cast<CUresult(*) parameters>(::dlsym(handle, #symbol)); \
  if (library.cu.function == nullptr) {                                   \
    return NotFoundError(                                                 \
        Concat({"CUDA's driver, ", name,                                  \
                (": expected the function " #symbol " of CUDA "),         \
                VersionText(kOldestDriver),                               \
                " in it, found none; a newer driver has it"}));           \
  }
  EMBER_CUDA_FUNCTIONS(EMBER_CUDA_LOAD)
#undef EMBER_CUDA_LOAD
#define EMBER_CUDA_LOAD(function, symbol, parameters) \
  library.cu.function =                               \
      reinterpret_cast<CUresult(*) parameters>(::dlsym(handle, #symbol));
  EMBER_CUDA_OPTIONAL_FUNCTIONS(EMBER_CUDA_LOAD)
#undef EMBER_CUDA_LOAD
  return Start(library);
}

StatusOr<std::shared_ptr<const Library>> OpenEmulatedLibrary() {
  Library library;
  library.cu = EmulatedFunctions();
  library.is_emulated = true;
  return Start(library);
}

}  // namespace ember::hal::cuda
