// Tests what is particular to the OpenCL driver: the target, the files of built
// programs, and that the host's memory is mapped when the host has it. The
// tests run on the fake library, so every machine runs them.
#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/concat.h"
#include "base/file.h"
#include "base/private_folder.h"
#include "gtest/gtest.h"
#include "hal/conformance/kernels.h"
#include "hal/opencl/testing/fake_opencl.h"
#include "hal/registry/drivers.h"

namespace ember::hal::opencl {
namespace {

constexpr char kFake[] = "hal/opencl/testing/libfake_opencl.so";

template <typename Function>
Function* Fake(const char* name) {
  static void* const library = ::dlopen(kFake, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(::dlsym(library, name));
}
#define EMBER_FAKE(name) (*Fake<decltype(name)>(#name))

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("EMBER_OPENCL_LIBRARY", kFake, 1);
    EMBER_FAKE(EmberFakeReset)();
  }
  void TearDown() override {
    EXPECT_STREQ(EMBER_FAKE(EmberFakeMisuse)(), "");
    EXPECT_EQ(EMBER_FAKE(EmberFakeObjects)(), 0);
    for (const char* name : {"EMBER_OPENCL_LIBRARY", "EMBER_OPENCL_FAKE",
                             "EMBER_OPENCL_WITHOUT_SVM"})
      ::unsetenv(name);
  }

  // Loads the kernel "scale" on a new device with this folder. Returns how
  // often a program was built from its source.
  static int64_t BuildsOfLoading(const std::string& folder) {
    EMBER_FAKE(EmberFakeReset)();
    auto device = *CreateDevice("opencl", {.cache_folder = folder});
    const KernelCode code(Kernel::kScale, "opencl-c");
    EXPECT_TRUE(device->LoadExecutable(code.definition()).ok());
    return EMBER_FAKE(EmberFakeBuilds)();
  }
};

TEST_F(DeviceTest, HasATarget) {
  auto device = *CreateDevice("opencl", {});
  EXPECT_EQ(device->target(),
            "opencl3.0+f64+subgroup32+shared32768+invocations256");
  EXPECT_TRUE(device->limits().shares_memory);
  EXPECT_EQ(device->limits().binding_count, 64);
  ::setenv("EMBER_OPENCL_WITHOUT_SVM", "1", 1);
  EXPECT_FALSE((*CreateDevice("opencl", {}))->limits().shares_memory);
  for (const Driver& driver : AllDrivers()) {
    if (driver.name != "opencl") continue;
    const auto devices = driver.list();
    ASSERT_TRUE(devices.ok());
    ASSERT_EQ(devices->size(), 1U);
    EXPECT_EQ((*devices)[0].name, "opencl:0");
    EXPECT_EQ((*devices)[0].text, "fake (driver 1.0)");
    EXPECT_EQ((*devices)[0].memory_bytes, int64_t{1} << 30);
  }
}

TEST_F(DeviceTest, SharesProgramsInUse) {
  auto device = *CreateDevice("opencl", {});
  const KernelCode code(Kernel::kScale, "opencl-c");
  auto first = *device->LoadExecutable(code.definition());
  auto second = *device->LoadExecutable(code.definition());
  EXPECT_EQ(EMBER_FAKE(EmberFakeBuilds)(), 1);
  first.reset();
  second.reset();
  first = *device->LoadExecutable(code.definition());
  EXPECT_EQ(EMBER_FAKE(EmberFakeBuilds)(), 2);
}

TEST_F(DeviceTest, KeepsProgramsForLaterProcesses) {
  const std::string folder = testing::TempDir() + "kept";
  EXPECT_EQ(BuildsOfLoading(folder), 1);
  EXPECT_EQ(BuildsOfLoading(folder), 0);
  // A driver of another version must not use the file of the first one. It
  // builds the program once and stores a file of its own.
  ::setenv("EMBER_OPENCL_FAKE", "driver2", 1);
  EXPECT_EQ(BuildsOfLoading(folder), 1);
  EXPECT_EQ(BuildsOfLoading(folder), 0);
  ::unsetenv("EMBER_OPENCL_FAKE");
  EXPECT_EQ(BuildsOfLoading(folder), 0);
  EXPECT_EQ(PrivateFolder::Open(folder + "/opencl")->List().size(), 2U);
}

// A file in the cache is not used, and is replaced, if it is damaged, cut off,
// or may have been written by another user.
TEST_F(DeviceTest, DoesNotTrustFiles) {
  const std::string folder = testing::TempDir() + "damaged";
  ASSERT_EQ(BuildsOfLoading(folder), 1);
  const std::string name =
      PrivateFolder::Open(folder + "/opencl")->List().at(0).name;
  const std::string path = folder + "/opencl/" + name;
  const std::string good = *ReadFile(path);
  for (const size_t at :
       {size_t{3}, size_t{9}, size_t{17}, size_t{30}, good.size() - 1}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] + 1);
    ASSERT_TRUE(
        PrivateFolder::Open(folder + "/opencl")->Replace(name, bad).ok());
    EXPECT_EQ(BuildsOfLoading(folder), 1) << at;
    EXPECT_EQ(*ReadFile(path), good) << at;
  }
  for (const size_t size : {size_t{0}, size_t{10}, good.size() - 1}) {
    ASSERT_TRUE(PrivateFolder::Open(folder + "/opencl")
                    ->Replace(name, good.substr(0, size))
                    .ok());
    EXPECT_EQ(BuildsOfLoading(folder), 1) << size;
  }
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  EXPECT_EQ(BuildsOfLoading(folder), 1);
}

TEST_F(DeviceTest, WorksWithoutAFolder) {
  EXPECT_EQ(BuildsOfLoading("/proc/no/such/folder"), 1);
  EXPECT_EQ(BuildsOfLoading("/proc/no/such/folder"), 1);
}

// The fake device has its own copy of mapped memory, which it updates only when
// the memory is unmapped and mapped. So the test fails if the driver forgets
// one of these calls.
TEST_F(DeviceTest, MapsMemoryOfTheHost) {
  ::setenv("EMBER_OPENCL_WITHOUT_SVM", "1", 1);
  auto device = *CreateDevice("opencl", {});
  auto in = *device->Allocate(64, MemoryKind::kHostVisible);
  auto out = *device->Allocate(64, MemoryKind::kHostVisible);
  auto unused = *device->Allocate(64, MemoryKind::kHostVisible);
  const KernelCode code(Kernel::kScale, "opencl-c");
  auto executable = *device->LoadExecutable(code.definition());
  auto list = *device->CreateCommandList();
  const BufferRange bindings[] = {{in.get(), 0, 64}, {out.get(), 0, 64}};
  const int64_t parameters[] = {7};
  ASSERT_TRUE(list->Dispatch(*executable, {.chunks = {16, 1, 1},
                                           .bindings = bindings,
                                           .parameters = parameters})
                  .ok());
  for (uint32_t run = 1; run < 4; ++run) {
    static_cast<uint32_t*>(in->host_data())[3] = run;
    ASSERT_TRUE((*device->Submit(*list))->Wait().ok());
    EXPECT_EQ(static_cast<const uint32_t*>(out->host_data())[3], 7 * run);
  }
}

TEST_F(DeviceTest, TakesTimes) {
  auto device = *CreateDevice("opencl", {.timestamps = true});
  auto list = *device->CreateCommandList();
  auto fence = *device->Submit(*list);
  EXPECT_GT(*fence->DeviceMilliseconds(), 0);
  auto without = *CreateDevice("opencl", {});
  auto other = *without->CreateCommandList();
  EXPECT_EQ((*without->Submit(*other))->DeviceMilliseconds().status().code(),
            StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace ember::hal::opencl
