// Ends the process if something takes too long.
//
//   {
//     const TimeLimit limit(/*seconds=*/20, "vm-run: expected …\n");
//     … work that cannot be interrupted
//   }
//
// At the limit the process writes the message to stderr and ends with status 1.
// Only tools use it: their process belongs to the user's command.
#ifndef EMBER_TOOLS_LIB_CLI_TIME_LIMIT_H_
#define EMBER_TOOLS_LIB_CLI_TIME_LIMIT_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "hal/device.h"
#include "tools/lib/cli/limits.h"

namespace ember::tools {

class TimeLimit {
 public:
  // There is no limit if `seconds` is 0 or more than a billion.
  TimeLimit(double seconds, std::string message);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
  std::thread watch_;
};

// Returns a limit that ends the process if a run on a device takes longer than
// --max-seconds. The session alone cannot enforce the limit, because work that
// has been submitted to a device cannot be stopped. Returns null for the host,
// where the session stops runs by itself.
std::unique_ptr<TimeLimit> LimitRunOnDevice(const LimitFlags& flags,
                                            const hal::Device& device,
                                            const std::string& name);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_TIME_LIMIT_H_
