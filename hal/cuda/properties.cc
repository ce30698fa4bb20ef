#include "hal/cuda/properties.h"

#include <algorithm>

#include "base/concat.h"
#include "hal/cuda/api/result.h"

namespace ember::hal::cuda {
namespace {

// Largest number of bindings and of parameters. Both follow from the 4 KiB of a
// kernel's arguments of 8 bytes each: half of them are for bindings, half for
// parameters. With tensor maps there is room for fewer (executable.cc).
constexpr int kMaxBindings = 256;
constexpr int kMaxParameters = 256;
// Largest number of tensor maps. A map has 128 bytes.
constexpr int kMaxMaps = 16;
// Alignment in bytes of a binding's offset, because kernels load vectors of up
// to this number of bytes.
constexpr int64_t kBindingAlignment = 16;
// Smallest major compute capability that is accepted. Today's compilers of LLVM
// and NVIDIA make no code for older architectures.
constexpr int kOldestMajor = 7;
// Smallest major compute capability whose kernels can copy boxes of tensors
// (tensor maps).
constexpr int kFirstMajorWithBoxes = 9;

}  // namespace

std::string DeviceProperties::Target() const {
  // Devices of compute capability 9.0 get the target sm_90a. Code for it may
  // use all features of these devices, and runs on no other devices.
  const bool has_own_code = major == 9 && minor == 0;
  return Concat(
      {"sm_", major, minor, has_own_code ? "a" : "",
       is_emulated ? "+emulated" : "", "+subgroup", warp_size, "+shared",
       shared_bytes, "+invocations", block_threads, "+processors", processors,
       has_tensor_maps && major >= kFirstMajorWithBoxes ? "+tensor_maps" : ""});
}

DeviceLimits DeviceProperties::Limits() const {
  DeviceLimits limits;
  limits.shares_memory = false;
  limits.binding_alignment = kBindingAlignment;
  limits.binding_count = kMaxBindings;
  limits.parameter_count = kMaxParameters;
  limits.map_count = has_tensor_maps ? kMaxMaps : 0;
  for (size_t i = 0; i < limits.chunks.size(); ++i)
    limits.chunks[i] = std::min(grid_dims[i], DeviceLimits::kMaxChunks);
  return limits;
}

StatusOr<DeviceProperties> QueryProperties(const Functions& cu, CUdevice device,
                                           bool is_emulated) {
  DeviceProperties properties;
  properties.is_emulated = is_emulated;
  properties.has_tensor_maps = cu.TensorMapEncodeTiled != nullptr;
  char name[256] = {};
  EMBER_RETURN_IF_ERROR(ResultStatus(
      "cuDeviceGetName", cu.DeviceGetName(name, sizeof name - 1, device)));
  properties.name = name;
  size_t bytes = 0;
  EMBER_RETURN_IF_ERROR(
      ResultStatus("cuDeviceTotalMem", cu.DeviceTotalMem(&bytes, device)));
  properties.memory_bytes = static_cast<int64_t>(bytes);
  int value = 0;
  Status status;
  const auto read = [&](CUdevice_attribute attribute) {
    value = 0;
    if (status.ok()) {
      status = ResultStatus("cuDeviceGetAttribute",
                            cu.DeviceGetAttribute(&value, attribute, device));
    }
    return value;
  };
  properties.major = read(kComputeCapabilityMajor);
  properties.minor = read(kComputeCapabilityMinor);
  properties.warp_size = read(kWarpSize);
  properties.processors = read(kMultiprocessorCount);
  properties.block_threads = read(kMaxThreadsPerBlock);
  for (int i = 0; i < 3; ++i) {
    properties.block_dims[i] = read(kMaxBlockDimX + i);
    properties.grid_dims[i] = read(kMaxGridDimX + i);
  }
  properties.static_shared_bytes = read(kMaxSharedMemoryPerBlock);
  properties.shared_bytes = std::max<int64_t>(
      read(kMaxSharedMemoryPerBlockOptin), properties.static_shared_bytes);
  properties.has_memory_pools = read(kMemoryPoolsSupported) != 0;
  const bool has_unified_addresses = read(kUnifiedAddressing) != 0;
  EMBER_RETURN_IF_ERROR(status);
  if (properties.major >= kOldestMajor && has_unified_addresses)
    return properties;
  return NotFoundError(Concat(
      {"cuda device '", properties.name, "': expected compute capability ",
       kOldestMajor, ".0 or newer and unified addresses, found ",
       properties.major, ".", properties.minor,
       has_unified_addresses ? "" : ", without unified addresses"}));
}

}  // namespace ember::hal::cuda
