#include "tools/lib/device.h"

#include "hal/drivers.h"

namespace ember::tools {

StatusOr<std::shared_ptr<hal::Device>> OpenDevice(const std::string& name,
                                                  int64_t threads) {
  constexpr int64_t kMostThreads = 1024;
  if (threads > kMostThreads) {
    return InvalidArgumentError("--threads: expected at most " +
                                std::to_string(kMostThreads) + ", found " +
                                std::to_string(threads));
  }
  return hal::CreateDevice(name, {.threads = static_cast<int>(threads)});
}

std::string ListDevices() {
  std::string text;
  for (const hal::Driver& driver : hal::AllDrivers()) {
    text += std::string(driver.name) +
            std::string(driver.name.size() < 10 ? 10 - driver.name.size() : 1,
                        ' ') +
            std::string(driver.doc) + "\n";
  }
  return text;
}

}  // namespace ember::tools
