// Tests what is particular to the Metal driver: the target, the order of
// devices, programs that are shared, and memory of a device's own. The tests
// run on the fake functions, so every machine with a C++ compiler runs them.
#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hal/conformance/kernels.h"
#include "hal/metal/testing/fake_metal.h"
#include "hal/registry/drivers.h"

namespace ember::hal::metal {
namespace {

constexpr char kFake[] = "hal/metal/testing/libfake_metal.so";

template <typename Function>
Function* Fake(const char* name) {
  static void* const library = ::dlopen(kFake, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(::dlsym(library, name));
}
#define EMBER_FAKE(name) (*Fake<decltype(name)>(#name))

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("EMBER_METAL_LIBRARY", kFake, 1);
    EMBER_FAKE(EmberFakeReset)();
  }
  void TearDown() override {
    EXPECT_STREQ(EMBER_FAKE(EmberFakeMisuse)(), "");
    EXPECT_EQ(EMBER_FAKE(EmberFakeObjects)(), 0);
    for (const char* name : {"EMBER_METAL_LIBRARY", "EMBER_METAL_FAKE"})
      ::unsetenv(name);
  }

  static std::vector<DeviceDescription> List() {
    for (const Driver& driver : AllDrivers()) {
      if (driver.name == "metal") return *driver.list();
    }
    return {};
  }
};

TEST_F(DeviceTest, HasATarget) {
  auto device = *CreateDevice("metal", {});
  EXPECT_EQ(device->driver(), "metal");
  EXPECT_EQ(device->target(),
            "metal2.4+subgroup32+shared32768+invocations1024");
  EXPECT_TRUE(device->limits().shares_memory);
  EXPECT_EQ(device->limits().binding_count, 30);
  EXPECT_EQ(device->limits().parameter_count, 512);
  EXPECT_EQ(device->limits().binding_alignment, 16);
}

TEST_F(DeviceTest, ListsTheFasterDeviceFirst) {
  ::setenv("EMBER_METAL_FAKE", "two", 1);
  const std::vector<DeviceDescription> devices = List();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].name, "metal:0");
  EXPECT_EQ(devices[0].text, "fake");
  EXPECT_EQ(devices[0].memory_bytes, int64_t{1} << 35);
  EXPECT_EQ(devices[1].name, "metal:1");
  EXPECT_EQ(devices[1].text, "slow fake");
  EXPECT_TRUE(CreateDevice("metal:1", {}).ok());
}

TEST_F(DeviceTest, HidesMemoryOfADiscreteDevice) {
  ::setenv("EMBER_METAL_FAKE", "discrete", 1);
  auto device = *CreateDevice("metal", {});
  EXPECT_FALSE(device->limits().shares_memory);
  auto hidden = *device->Allocate(64, MemoryKind::kDeviceLocal);
  EXPECT_EQ(hidden->host_data(), nullptr);
  EXPECT_EQ(device->memory_statistics().hidden_peak_bytes, 64);
  auto visible = *device->Allocate(64, MemoryKind::kHostVisible);
  ASSERT_NE(visible->host_data(), nullptr);
  auto list = *device->CreateCommandList();
  ASSERT_TRUE(list->Fill({hidden.get(), 3, 41}, 7).ok());
  ASSERT_TRUE(list->Barrier().ok());
  ASSERT_TRUE(list->Copy({hidden.get(), 0, 64}, {visible.get(), 0, 64}).ok());
  ASSERT_TRUE((*device->Submit(*list))->Wait().ok());
  const auto* const bytes = static_cast<const uint8_t*>(visible->host_data());
  for (int i = 0; i < 64; ++i) EXPECT_EQ(bytes[i], i >= 3 && i < 44 ? 7 : 0);
}

TEST_F(DeviceTest, SharesProgramsInUse) {
  auto device = *CreateDevice("metal", {});
  const KernelCode code(Kernel::kScale, "msl");
  const int64_t own = EMBER_FAKE(EmberFakeBuilds)();
  auto first = *device->LoadExecutable(code.definition());
  auto second = *device->LoadExecutable(code.definition());
  EXPECT_EQ(EMBER_FAKE(EmberFakeBuilds)(), own + 1);
  first.reset();
  second.reset();
  first = *device->LoadExecutable(code.definition());
  EXPECT_EQ(EMBER_FAKE(EmberFakeBuilds)(), own + 2);
}

// The fake runs commands that no barrier separates in reverse order.
TEST_F(DeviceTest, OrdersCommandsByBarriers) {
  auto device = *CreateDevice("metal", {});
  auto buffer = *device->Allocate(64, MemoryKind::kHostVisible);
  auto list = *device->CreateCommandList();
  const auto value = [&](const std::vector<BufferRange>& ranges,
                         bool has_barrier) {
    list = *device->CreateCommandList();
    for (size_t i = 0; i < ranges.size(); ++i) {
      EXPECT_TRUE(list->Fill(ranges[i], static_cast<uint8_t>(i + 1)).ok());
      if (!has_barrier) continue;
      EXPECT_TRUE(list->Barrier().ok());
    }
    EXPECT_TRUE((*device->Submit(*list))->Wait().ok());
    return static_cast<const uint8_t*>(buffer->host_data())[9];
  };
  // The ranges suit a blit encoder, a compute encoder, and one after the other.
  const BufferRange even = {buffer.get(), 8, 8}, odd = {buffer.get(), 9, 5};
  EXPECT_EQ(value({even, even}, true), 2);
  EXPECT_EQ(value({even, even}, false), 1);
  EXPECT_EQ(value({odd, odd}, true), 2);
  EXPECT_EQ(value({odd, odd}, false), 1);
  EXPECT_EQ(value({odd, even, odd, odd, even}, true), 5);
}

TEST_F(DeviceTest, TakesTimes) {
  auto device = *CreateDevice("metal", {.timestamps = true});
  auto list = *device->CreateCommandList();
  auto fence = *device->Submit(*list);
  EXPECT_EQ(*fence->DeviceMilliseconds(), 250);
  auto without = *CreateDevice("metal", {});
  auto other = *without->CreateCommandList();
  EXPECT_EQ((*without->Submit(*other))->DeviceMilliseconds().status().code(),
            StatusCode::kUnimplemented);
}

// A fence is not done before the commands ran, and Wait runs them.
TEST_F(DeviceTest, FencesWaitForCommands) {
  auto device = *CreateDevice("metal", {});
  auto buffer = *device->Allocate(64, MemoryKind::kHostVisible);
  auto list = *device->CreateCommandList();
  ASSERT_TRUE(list->Fill({buffer.get(), 0, 64}, 5).ok());
  auto fence = *device->Submit(*list);
  EXPECT_FALSE(fence->done());
  EXPECT_EQ(*static_cast<const uint8_t*>(buffer->host_data()), 0);
  ASSERT_TRUE(fence->Wait().ok());
  EXPECT_TRUE(fence->done());
  EXPECT_EQ(*static_cast<const uint8_t*>(buffer->host_data()), 5);
}

}  // namespace
}  // namespace ember::hal::metal
