// The fixture of the conformance tests: a fresh device of the driver under
// test, and the rule by which a missing feature ("unsupported") is
// distinguished from an error.
//
//   TEST_F(Conformance, FillsMemory) {
//     EMBER_REQUIRE(buffer, device().Allocate(64, MemoryKind::kHostVisible),
//                   "host-visible memory");
//     ...
//   }
#ifndef EMBER_HAL_CONFORMANCE_SUITE_H_
#define EMBER_HAL_CONFORMANCE_SUITE_H_

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "gtest/gtest.h"
#include "hal/conformance/kernels.h"
#include "hal/device.h"

namespace ember::hal {

struct ConformanceOptions {
  std::string device;
  std::set<std::string> unsupported;
  // These two options are passed on to the device as the fields of
  // DeviceOptions with these names.
  bool validate = false;
  bool separate_memory = false;
  // True if the machine need not have the device. Tests are skipped if it has
  // none.
  bool may_be_missing = false;
};
ConformanceOptions& conformance_options();

enum class Support : uint8_t { kWorks, kSkip, kWrong };

// Decides from the status of a use of `feature` if the feature works, if the
// test is skipped because the driver lacks it, or if the status is wrong
// (kWrong). kWrong is also reported as a test failure.
Support SupportOf(const Status& status, const std::string& feature);

class Conformance : public testing::Test {
 protected:
  void SetUp() override;
  Device& device() { return *device_; }
  // Loads the kernel in a format that the driver supports. Returns
  // Unimplemented if the driver supports none of the formats.
  StatusOr<std::unique_ptr<Executable>> Load(Kernel kernel);
  // Write and Read let the host write and read a buffer that it cannot access
  // directly: they submit a list with one copy and wait for it. `bytes` are the
  // contents of the whole buffer.
  Status Write(Buffer& buffer, std::span<const uint8_t> bytes);
  StatusOr<std::vector<uint8_t>> Read(Buffer& buffer);

  std::shared_ptr<Device> device_;
};

}  // namespace ember::hal

// Declares `name` as the value of the expression. If the expression is an
// error, ends the test: skipped if the driver's options list the feature as
// unsupported, failed otherwise.
#define EMBER_REQUIRE(name, expression, feature)                  \
  auto name##_or = (expression);                                  \
  switch (::ember::hal::SupportOf(name##_or.status(), feature)) { \
    case ::ember::hal::Support::kWorks:                           \
      break;                                                      \
    case ::ember::hal::Support::kSkip:                            \
      GTEST_SKIP() << "unsupported: " << feature;                 \
    case ::ember::hal::Support::kWrong:                           \
      return;                                                     \
  }                                                               \
  auto name = *std::move(name##_or)

#define EMBER_EXPECT_OK(expression)                              \
  if (const ::ember::Status status = (expression); !status.ok()) \
  FAIL() << status.ToString()

#endif  // EMBER_HAL_CONFORMANCE_SUITE_H_
