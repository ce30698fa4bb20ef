#include "hal/opencl/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "base/concat.h"
#include "hal/opencl/api/result.h"

namespace ember::hal::opencl {
namespace {

bool IsSet(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

StatusOr<Functions> LoadFunctions() {
  const bool is_given = IsSet("EMBER_OPENCL_LIBRARY");
  const char* const name =
      is_given ? std::getenv("EMBER_OPENCL_LIBRARY") : "libOpenCL.so.1";
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    return NotFoundError(
        Concat({"OpenCL's loader, ", name, ", cannot be opened (",
                reason == nullptr ? "no reason given" : reason, "); ",
                is_given ? "EMBER_OPENCL_LIBRARY names it"
                         : "it is in the package ocl-icd-libopencl1 of Debian "
                           "and comes with drivers of GPUs"}));
  }
  Functions cl;
#define EMBER_OPENCL_FIND(function, result, parameters) \
  cl.function =                                         \
      reinterpret_cast<result(*) parameters>(::dlsym(handle, "cl" #function));
#define EMBER_OPENCL_LOAD(function, result, parameters)                    \
  EMBER_OPENCL_FIND(function, result, parameters)                          \
  if (cl.function == nullptr) {                                            \
    return NotFoundError(                                                  \
        Concat({"OpenCL's loader, ", name,                                 \
                ": expected the function cl" #function                     \
                " of OpenCL 1.2 in it, found none; a newer one has it"})); \
  }
  EMBER_OPENCL_FUNCTIONS(EMBER_OPENCL_LOAD)
  EMBER_OPENCL_OPTIONAL_FUNCTIONS(EMBER_OPENCL_FIND)
#undef EMBER_OPENCL_LOAD
#undef EMBER_OPENCL_FIND
  // The variable EMBER_OPENCL_WITHOUT_SVM makes devices seem to lack shared
  // virtual memory, for tests of the other kinds.
  if (IsSet("EMBER_OPENCL_WITHOUT_SVM")) cl.SVMAlloc = nullptr;
  return cl;
}

StatusOr<std::vector<cl_platform_id>> PlatformsOf(const Functions& cl) {
  cl_uint count = 0;
  const cl_int result = cl.GetPlatformIDs(0, nullptr, &count);
  if (result == kPlatformNotFound || (result == kSuccess && count == 0)) {
    return NotFoundError(
        "OpenCL: expected a platform, found none; install a driver (an ICD), "
        "such as pocl-opencl-icd of Debian for CPUs");
  }
  EMBER_RETURN_IF_ERROR(ResultStatus("clGetPlatformIDs", result));
  std::vector<cl_platform_id> platforms(count);
  EMBER_RETURN_IF_ERROR(ResultStatus(
      "clGetPlatformIDs", cl.GetPlatformIDs(count, platforms.data(), nullptr)));
  return platforms;
}

// Adds the usable devices of a platform to `devices`. If a device cannot be
// used, `problem` is set to the reason.
Status AddDevices(const Functions& cl, cl_platform_id platform,
                  std::vector<FoundDevice>& devices, std::string& problem) {
  cl_uint count = 0;
  const cl_int result =
      cl.GetDeviceIDs(platform, kDeviceTypeAll, 0, nullptr, &count);
  if (result == kDeviceNotFound || (result == kSuccess && count == 0))
    return OkStatus();
  EMBER_RETURN_IF_ERROR(ResultStatus("clGetDeviceIDs", result));
  std::vector<cl_device_id> ids(count);
  EMBER_RETURN_IF_ERROR(ResultStatus(
      "clGetDeviceIDs",
      cl.GetDeviceIDs(platform, kDeviceTypeAll, count, ids.data(), nullptr)));
  for (const cl_device_id id : ids) {
    EMBER_ASSIGN_OR_RETURN(DeviceProperties properties,
                           QueryProperties(cl, platform, id));
    std::string lack = properties.WhatItLacks();
    if (lack.empty()) {
      devices.push_back({.id = id, .properties = std::move(properties)});
    } else {
      problem = std::move(lack);
    }
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::shared_ptr<const Library>> OpenLibrary() {
  auto library = std::make_shared<Library>();
  EMBER_ASSIGN_OR_RETURN(library->cl, LoadFunctions());
  EMBER_ASSIGN_OR_RETURN(const std::vector<cl_platform_id> platforms,
                         PlatformsOf(library->cl));
  std::string problem;
  for (const cl_platform_id platform : platforms) {
    EMBER_RETURN_IF_ERROR(
        AddDevices(library->cl, platform, library->devices, problem));
  }
  if (library->devices.empty()) {
    return NotFoundError(problem.empty()
                             ? "OpenCL: expected a device, found none"
                             : Concat({"OpenCL: ", problem}));
  }
  // Devices are sorted with GPUs first, because a user who names no device
  // wants a GPU.
  std::vector<FoundDevice> others;
  std::vector<FoundDevice> all;
  for (FoundDevice& device : library->devices)
    (device.properties.is_gpu ? all : others).push_back(std::move(device));
  for (FoundDevice& device : others) all.push_back(std::move(device));
  library->devices = std::move(all);
  return std::shared_ptr<const Library>(std::move(library));
}

}  // namespace ember::hal::opencl
