#include "tools/lib/cli/device.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/concat.h"
#include "base/did_you_mean.h"
#include "tools/lib/cli/command_line_error.h"

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

// True if `text` is empty or a device's index, such as ":12".
bool IsIndex(std::string_view text) {
  if (text.empty()) return true;
  text.remove_prefix(1);
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Status CheckDevice(const std::string& name, int64_t threads) {
  constexpr int64_t kMaxThreads = 1024;
  if (threads > kMaxThreads) {
    return CommandLineError("--threads: expected at most " +
                            std::to_string(kMaxThreads) + ", found " +
                            std::to_string(threads));
  }
  const std::string_view driver =
      std::string_view(name).substr(0, std::min(name.find(':'), name.size()));
  const std::string_view index = std::string_view(name).substr(driver.size());
  std::vector<std::string_view> names;
  for (const hal::Driver& one : hal::AllDrivers()) names.push_back(one.name);
  const bool is_known = std::ranges::find(names, driver) != names.end();
  if (is_known && IsIndex(index)) return OkStatus();
  std::string known;
  for (const std::string_view one : names)
    known += (known.empty() ? "" : ", ") + std::string(one);
  return CommandLineError(
      "--device: expected one of " + known +
      ", with :NUMBER behind it for another one of its devices, found '" +
      name + "'" +
      (driver == "gpu" ? "; did you mean 'cuda' or 'vulkan'?"
       : is_known      ? ""
                       : DidYouMean(driver, names)));
}

StatusOr<std::shared_ptr<hal::Device>> OpenDevice(
    const std::string& name, int64_t threads, const std::string& cache_folder) {
  EMBER_RETURN_IF_ERROR(CheckDevice(name, threads));
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
