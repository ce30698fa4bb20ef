#include "tools/lib/benchmark/thread_waits.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace ember::tools {

ThreadWaits::ThreadWaits() {
  std::error_code error;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/self/task", error))
    files_.push_back(thread.path().string() + "/schedstat");
}

double ThreadWaits::milliseconds() const {
  int64_t sum = 0;
  for (const std::string& path : files_) {
    // The file schedstat has three numbers: nanoseconds that the thread ran on
    // a core, nanoseconds that it waited for a core, and the number of time
    // slices.
    int64_t runs = 0, waits = 0;
    if (std::ifstream(path) >> runs >> waits) sum += waits;
  }
  return 1e-6 * static_cast<double>(sum);
}

}  // namespace ember::tools
