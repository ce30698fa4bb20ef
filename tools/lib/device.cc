#include "tools/lib/device.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/concat.h"

namespace ember::tools {
namespace {

constexpr size_t kNameWidth = 10;

std::string DeviceText(const hal::DeviceDescription& device) {
  std::string name = device.name;
  name.resize(std::max(name.size(), kNameWidth), ' ');
  std::string text = device.text;
  if (device.memory_bytes > 0) {
    char size[32];
    std::snprintf(size, sizeof size, "%.1f GB",
                  static_cast<double>(device.memory_bytes) / 1e9);
    text += Concat({text.empty() ? "" : ", ", size});
  }
  if (text.empty()) return Concat({"  ", name, " ", device.target, "\n"});
  return Concat({"  ", name, " ", text, "\n  ", std::string(kNameWidth, ' '),
                 " ", device.target, "\n"});
}

}  // namespace

StatusOr<std::shared_ptr<hal::Device>> OpenDevice(
    const std::string& name, int64_t threads, const std::string& cache_folder) {
  constexpr int64_t kMaxThreads = 1024;
  if (threads > kMaxThreads) {
    return InvalidArgumentError("--threads: expected at most " +
                                std::to_string(kMaxThreads) + ", found " +
                                std::to_string(threads));
  }
  return hal::CreateDevice(name, {.threads = static_cast<int>(threads),
                                  .cache_folder = cache_folder});
}

std::string DevicesText(std::span<const hal::Driver> drivers) {
  std::string text;
  for (const hal::Driver& driver : drivers) {
    text += Concat({driver.name, ": ", driver.doc, "\n"});
    const StatusOr<std::vector<hal::DeviceDescription>> devices = driver.list();
    if (!devices.ok()) {
      text += Concat({"  none: ", devices.status().message(), "\n"});
      continue;
    }
    for (const hal::DeviceDescription& device : *devices)
      text += DeviceText(device);
  }
  return text;
}

}  // namespace ember::tools
