#include "hal/drivers.h"

#include <string>

#include "hal/cpu/cpu_device.h"
#include "hal/null/null_device.h"

namespace ember::hal {
namespace {

// One line per driver: name, how to make a device, what it is.
constexpr Driver kDrivers[] = {
    {"cpu", CreateCpuDevice,
     "the host's processors: thread pool, host functions"},
    {"null", CreateNullDevice,
     "counts and discards: the template for new drivers"},
};

}  // namespace

std::span<const Driver> AllDrivers() { return kDrivers; }

StatusOr<std::shared_ptr<Device>> CreateDevice(std::string_view driver,
                                               const DeviceOptions& options) {
  std::string known;
  for (const Driver& candidate : kDrivers) {
    if (candidate.name == driver) return candidate.create(options);
    known += (known.empty() ? "" : ", ") + std::string(candidate.name);
  }
  return NotFoundError("device '" + std::string(driver) +
                       "': expected one of " + known);
}

}  // namespace ember::hal
