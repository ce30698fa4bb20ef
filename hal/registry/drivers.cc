#include "hal/registry/drivers.h"

#include <charconv>
#include <string>

#include "hal/cpu/device.h"
#include "hal/cuda/device.h"
#include "hal/metal/device.h"
#include "hal/null/device.h"
#include "hal/opencl/device.h"
#include "hal/vulkan/device.h"

namespace ember::hal {
namespace {

// Makes the device of a driver that has exactly one device, so `index` must be
// 0; otherwise returns NotFound.
template <StatusOr<std::shared_ptr<Device>> (*create)(const DeviceOptions&)>
StatusOr<std::shared_ptr<Device>> CreateOnly(int index,
                                             const DeviceOptions& options) {
  if (index == 0) return create(options);
  return NotFoundError("expected device 0, found " + std::to_string(index));
}

template <StatusOr<std::shared_ptr<Device>> (*create)(const DeviceOptions&)>
StatusOr<std::vector<DeviceDescription>> ListOnly() {
  StatusOr<std::shared_ptr<Device>> device = create(DeviceOptions());
  if (!device.ok()) return device.status();
  const std::string_view driver = (*device)->driver();
  return std::vector<DeviceDescription>{
      {.name = std::string(driver),
       .target = std::string((*device)->target())}};
}

// The drivers of this binary. Each line has a driver's name, the functions that
// make a device and list the devices, and a description.
constexpr Driver kDrivers[] = {
    {"cpu", CreateOnly<CreateCpuDevice>, ListCpuDevices,
     "the host's processors: thread pool, host functions"},
    {"cuda", CreateCudaDevice, ListCudaDevices,
     "NVIDIA's GPUs through CUDA's driver: PTX"},
    {"cuda-emulated", CreateEmulatedCudaDevice, ListEmulatedCudaDevices,
     "kernels for CUDA thread by thread on the host, each access checked"},
    {"metal", CreateMetalDevice, ListMetalDevices,
     "Apple's GPUs through Metal: the Metal Shading Language"},
    {"null", CreateOnly<CreateNullDevice>, ListOnly<CreateNullDevice>,
     "counts and discards: the template for new drivers"},
    {"opencl", CreateOpenClDevice, ListOpenClDevices,
     "GPUs, and CPUs with PoCL, through OpenCL 1.2 or newer: OpenCL C"},
    {"vulkan", CreateVulkanDevice, ListVulkanDevices,
     "GPUs, and CPUs with lavapipe, through Vulkan 1.2 or newer: SPIR-V"},
};

}  // namespace

std::span<const Driver> AllDrivers() { return kDrivers; }

StatusOr<std::shared_ptr<Device>> CreateDevice(std::string_view device,
                                               const DeviceOptions& options) {
  const size_t colon = device.find(':');
  const std::string_view name = device.substr(0, colon);
  int index = 0;
  if (colon != std::string_view::npos) {
    const std::string_view digits = device.substr(colon + 1);
    const char* const end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, index);
    if (parsed.ec != std::errc() || parsed.ptr != end || index < 0) {
      return InvalidArgumentError("device '" + std::string(device) +
                                  "': expected a number behind ':', found '" +
                                  std::string(digits) + "'");
    }
  }
  std::string known;
  for (const Driver& driver : kDrivers) {
    if (driver.name == name) {
      StatusOr<std::shared_ptr<Device>> made = driver.create(index, options);
      if (made.ok()) return made;
      return made.status().WithContext("device '" + std::string(device) + "'");
    }
    known += (known.empty() ? "" : ", ") + std::string(driver.name);
  }
  return NotFoundError("device '" + std::string(device) +
                       "': expected one of " + known);
}

}  // namespace ember::hal
