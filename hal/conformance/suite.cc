#include "hal/conformance/suite.h"

#include "hal/drivers.h"

namespace ember::hal {

ConformanceOptions& conformance_options() {
  static ConformanceOptions options;
  return options;
}

Support Judge(const Status& status, const std::string& feature) {
  const bool listed = conformance_options().unsupported.count(feature) > 0;
  if (status.code() == StatusCode::kUnimplemented && listed)
    return Support::kSkip;
  if (status.ok() && !listed) return Support::kWorks;
  ADD_FAILURE()
      << feature << ": "
      << (listed ? "listed as unsupported, expected UNIMPLEMENTED, found "
                 : "expected OK, found ")
      << status.ToString();
  return Support::kWrong;
}

void Conformance::SetUp() {
  StatusOr<std::shared_ptr<Device>> device = CreateDevice(
      conformance_options().driver, {.threads = 2, .memory_limit = 1 << 24});
  ASSERT_TRUE(device.ok()) << device.status().ToString();
  device_ = *std::move(device);
}

}  // namespace ember::hal
