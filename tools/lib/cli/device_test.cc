#include "tools/lib/cli/device.h"

#include <vector>

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

StatusOr<std::vector<hal::DeviceDescription>> ListTwo() {
  return std::vector<hal::DeviceDescription>{
      {"fast:0", "Fast 9000", "fast1.0+f16", 12'300'000'000},
      {"fast:1", "", "fast1.0", 0}};
}

StatusOr<std::vector<hal::DeviceDescription>> ListNone() {
  return NotFoundError("libslow.so.1 cannot be opened");
}

TEST(DeviceTest, ListsDevicesOrSaysWhyThereAreNone) {
  const hal::Driver drivers[] = {
      {.name = "fast", .create = nullptr, .list = ListTwo, .doc = "boards"},
      {.name = "slow", .create = nullptr, .list = ListNone, .doc = "boxes"}};
  EXPECT_EQ(DevicesText(drivers),
            "fast: boards\n"
            "  fast:0     Fast 9000, 12.3 GB\n"
            "             fast1.0+f16\n"
            "  fast:1     fast1.0\n"
            "slow: boxes\n"
            "  none: libslow.so.1 cannot be opened\n");
}

TEST(DeviceTest, NamesWhatIsWrong) {
  EXPECT_EQ(OpenDevice("cpu", 1025).status().message(),
            "--threads: expected at most 1024, found 1025");
  const std::string known =
      "--device: expected one of cpu, cuda, cuda-emulated, metal, null, "
      "opencl, "
      "vulkan, with "
      ":NUMBER behind it for another one of its devices, found ";
  EXPECT_EQ(OpenDevice("cpu:x", 1).status().message(), known + "'cpu:x'");
  EXPECT_EQ(OpenDevice("gpu", 1).status().message(),
            known + "'gpu'; did you mean 'cuda' or 'vulkan'?");
  EXPECT_EQ(OpenDevice("vulcan:1", 1).status().message(),
            known + "'vulcan:1'; did you mean 'vulkan'?");
  EXPECT_EQ(OpenDevice("cpu:1", 1).status().message(),
            "device 'cpu:1': expected device 0, found 1");
}

}  // namespace
}  // namespace ember::tools
