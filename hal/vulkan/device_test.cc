// Tests Vulkan's own limits, refused modules and the pipeline cache, which the
// conformance suite does not test. The test runs under the validation layer.
#include "hal/vulkan/device.h"

#include <algorithm>
#include <cstring>
#include <spirv/unified1/spirv.hpp11>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/private_folder.h"
#include "gtest/gtest.h"
#include "hal/conformance/kernels.h"
#include "hal/vulkan/testing/test_device.h"
#include "hal/vulkan/testing/texel_kernel.h"

namespace ember::hal::vulkan {
namespace {

void ExpectHas(std::string_view text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string_view::npos) << text;
}

TEST(VulkanDeviceTest, ListsWhatItMakes) {
  EMBER_VULKAN_DEVICE(device, {.validate = true});
  const auto list = ListVulkanDevices();
  ASSERT_TRUE(list.ok());
  ASSERT_FALSE(list->empty());
  EXPECT_EQ((*list)[0].name, "vulkan:0");
  EXPECT_EQ((*list)[0].target, device->target());
  EXPECT_FALSE((*list)[0].text.empty());
  EXPECT_GT((*list)[0].memory_bytes, 1 << 20);
  EXPECT_EQ(device->driver(), "vulkan");
}

TEST(VulkanDeviceTest, RefusesBindingsThatAreTooLong) {
  EMBER_VULKAN_DEVICE(device, {.validate = true});
  const int64_t most = device->limits().binding_bytes;
  if (most > int64_t{1} << 28) GTEST_SKIP() << "too much memory: " << most;
  auto buffer = device->Allocate(most + 64, MemoryKind::kDeviceLocal);
  ASSERT_TRUE(buffer.ok()) << buffer.status().ToString();
  const KernelCode code(Kernel::kScale, "spirv");
  auto executable = *device->LoadExecutable(code.definition());
  auto list = *device->CreateCommandList();
  const int64_t parameters[] = {3};
  const BufferRange good[] = {{buffer->get(), 64, most},
                              {buffer->get(), 64, most}};
  const BufferRange wrong[] = {good[0], {buffer->get(), 0, most + 1}};
  const Status status = list->Dispatch(
      *executable, {.bindings = wrong, .parameters = parameters});
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  ExpectHas(status.message(),
            "executable 'scale': binding 1: expected at most " +
                std::to_string(most) + " bytes on this device, found " +
                std::to_string(most + 1));
  EXPECT_TRUE(
      list->Dispatch(*executable, {.bindings = good, .parameters = parameters})
          .ok());
  auto fence = *device->Submit(*list);
  EXPECT_TRUE(fence->Wait().ok());
}

TEST(VulkanDeviceTest, ReadsTexelBuffers) {
  EMBER_VULKAN_DEVICE(device, {.validate = true});
  auto buffer = *device->Allocate(4096, MemoryKind::kHostVisible);
  auto* const words = static_cast<uint32_t*>(buffer->host_data());
  for (uint32_t i = 0; i < 512; ++i) words[i] = i * i;
  const TexelKernel kernel;
  auto executable = *device->LoadExecutable(kernel.definition());
  auto list = *device->CreateCommandList();
  const int64_t from =
      std::max<int64_t>(device->limits().binding_alignment, 64);
  const BufferRange bindings[] = {{buffer.get(), from, 16 * 16},
                                  {buffer.get(), 2048, 16 * 4}};
  ASSERT_TRUE(
      list->Dispatch(*executable, {.chunks = {16, 1, 1}, .bindings = bindings})
          .ok());
  auto fence = *device->Submit(*list);
  ASSERT_TRUE(fence->Wait().ok());
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t at = static_cast<uint32_t>(from / 4) + 4 * i + 2;
    EXPECT_EQ(words[512 + i], at * at) << i;
  }
  const TexelKernel other("Rgba16f");
  const Status refused = device->LoadExecutable(other.definition()).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  ExpectHas(refused.message(),
            "expected texel buffers of format R32ui or Rgba32ui among 2 "
            "bindings, found format 2 of binding 0");
}

// Loads a kernel in whose SPIR-V code the word after the sequence `before` is
// replaced by `word`. Returns the status of loading it.
Status LoadChanged(Device& device, std::vector<uint32_t> before,
                   uint32_t word) {
  const KernelCode code(Kernel::kScale, "spirv");
  ExecutableDefinition definition = code.definition();
  std::vector<uint32_t> words(definition.code.size() / 4);
  std::memcpy(words.data(), definition.code.data(), definition.code.size());
  const auto at =
      std::search(words.begin(), words.end(), before.begin(), before.end());
  EXPECT_NE(at, words.end());
  *(at + static_cast<int64_t>(before.size())) = word;
  definition.code = {reinterpret_cast<const uint8_t*>(words.data()),
                     words.size() * 4};
  return device.LoadExecutable(definition).status();
}

TEST(VulkanDeviceTest, RefusesModulesThatItCannotRun) {
  EMBER_VULKAN_DEVICE(device, {.validate = true});
  const uint32_t capability =
      2u << 16 | static_cast<uint32_t>(spv::Op::OpCapability);
  Status status = LoadChanged(*device, {capability},
                              static_cast<uint32_t>(spv::Capability::Geometry));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  ExpectHas(status.message(),
            "executable 'scale': needs SPIR-V's capability 2, expected one "
            "that this device has: vulkan1.");
  status = LoadChanged(*device, {spv::MagicNumber}, 0x00010900);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  ExpectHas(status.message(), "on this device, found 1.9");
  status = LoadChanged(
      *device, {static_cast<uint32_t>(spv::ExecutionMode::LocalSize)}, 100000);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  ExpectHas(status.message(), "of a workgroup, found 100000");

  ExecutableDefinition definition;
  definition.name = "torn";
  definition.format = "spirv";
  const uint8_t bytes[] = {3, 2, 0x23, 7, 0};
  definition.code = bytes;
  status = device->LoadExecutable(definition).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  ExpectHas(status.message(),
            "executable 'torn': expected SPIR-V, whole words");
}

TEST(VulkanDeviceTest, ManyBuffersTakeFewAllocations) {
  EMBER_VULKAN_DEVICE(device, {});
  // Vulkan drivers allow only some thousand allocations of memory. The HAL
  // driver must be able to make more buffers than that, so it shares
  // allocations.
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (int i = 0; i < 20000; ++i) {
    auto buffer = device->Allocate(64, MemoryKind::kDeviceLocal);
    ASSERT_TRUE(buffer.ok()) << i << ": " << buffer.status().ToString();
    buffers.push_back(*std::move(buffer));
  }
}

class PipelineCacheTest : public testing::Test {
 protected:
  // Makes a device and loads one kernel, as a process would that uses the
  // pipeline cache.
  void UseDevice() {
    EMBER_VULKAN_DEVICE(device, {.cache_folder = folder_, .validate = true});
    const KernelCode code(Kernel::kScale, "spirv");
    const auto executable = device->LoadExecutable(code.definition());
    ASSERT_TRUE(executable.ok()) << executable.status().ToString();
  }
  // Returns the path of the cache's file, which must be the only one in the
  // folder.
  std::string FileName() {
    auto folder = PrivateFolder::Open(folder_ + "/vulkan");
    EXPECT_TRUE(folder.ok()) << folder.status().ToString();
    const auto files = folder->List();
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? "" : folder_ + "/vulkan/" + files[0].name;
  }

  const std::string folder_ =
      testing::TempDir() + "/" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(PipelineCacheTest, IsKeptAndDamageIsRepaired) {
  UseDevice();
  if (IsSkipped() || HasFailure()) return;
  const std::string name = FileName();
  EXPECT_TRUE(name.ends_with(".pipelines")) << name;
  const std::string good = *ReadFile(name);
  EXPECT_TRUE(good.starts_with("EMBERVP1"));
  // Each damaged file is cut off, or has a changed byte, in one of its parts:
  // the file's header, the driver's header, the driver's contents.
  std::vector<std::string> damaged = {"", good.substr(0, 12),
                                      good.substr(0, good.size() - 1)};
  for (size_t at : {size_t{0}, size_t{9}, size_t{20}, good.size() - 1}) {
    damaged.push_back(good);
    damaged.back()[at] ^= 1;
  }
  for (const std::string& contents : damaged) {
    ASSERT_TRUE(WriteFileAtomically(name, contents).ok());
    UseDevice();
    EXPECT_EQ(*ReadFile(FileName()), good);
  }
}

TEST_F(PipelineCacheTest, ContinuesWithoutAFolder) {
  ASSERT_TRUE(WriteFileAtomically(folder_, "a file").ok());
  UseDevice();
  EXPECT_EQ(*ReadFile(folder_), "a file");
}

}  // namespace
}  // namespace ember::hal::vulkan
