// Tests errors with an external cause: no library, no driver, no device, no
// memory, a lost device. Every call of a Vulkan function that can fail is made
// to fail.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "base/concat.h"
#include "gtest/gtest.h"
#include "hal/conformance/kernels.h"
#include "hal/registry/drivers.h"
#include "hal/vulkan/functions.h"
#include "hal/vulkan/testing/faulty_vulkan.h"
#include "hal/vulkan/testing/test_device.h"
#include "hal/vulkan/testing/texel_kernel.h"
#include "hal/vulkan/validation.h"

namespace ember::hal::vulkan {
namespace {

constexpr const char* kFaultyLibrary = "hal/vulkan/testing/libfaulty_vulkan.so";

template <typename Function>
Function* FaultyFunction(const char* name) {
  void* const library = ::dlopen(kFaultyLibrary, RTLD_NOW | RTLD_LOCAL);
  return library == nullptr
             ? nullptr
             : reinterpret_cast<Function*>(::dlsym(library, name));
}

void ExpectCpuWorks() {
  auto device = CreateDevice("cpu", {.threads = 1});
  ASSERT_TRUE(device.ok());
  auto buffer = (*device)->Allocate(64, MemoryKind::kHostVisible);
  ASSERT_TRUE(buffer.ok());
  auto list = (*device)->CreateCommandList();
  ASSERT_TRUE((*list)->Fill({buffer->get(), 0, 64}, 1).ok());
  auto fence = (*device)->Submit(**list);
  ASSERT_TRUE((*fence)->Wait().ok());
  EXPECT_EQ(static_cast<const uint8_t*>((*buffer)->host_data())[63], 1);
}

class ErrorsTest : public testing::Test {
 protected:
  void SetUp() override {
    const Status status = CreateVulkanDevice(0, {}).status();
    if (MaySkip(status)) GTEST_SKIP() << status.ToString();
    ASSERT_TRUE(status.ok()) << status.ToString();
    ::setenv("EMBER_VULKAN_LIBRARY", kFaultyLibrary, 1);
  }
  void TearDown() override {
    ::unsetenv("EMBER_VULKAN_LIBRARY");
    ::unsetenv("EMBER_VULKAN_FAULT");
    ExpectCpuWorks();
  }

  static void SetFault(std::string_view function, int64_t call,
                       VkResult result) {
    ::setenv("EMBER_VULKAN_FAULT",
             Concat({function, ":", call, ":", static_cast<int64_t>(result)})
                 .c_str(),
             1);
  }
  // Returns the error of creating a device, which must fail.
  static std::string CreationError(StatusCode code) {
    const Status status = CreateDevice("vulkan", {}).status();
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_EQ(ListVulkanDevices().status().code(), code);
    return std::string(status.message());
  }
};

void ExpectHas(std::string_view text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string_view::npos) << text;
}

TEST_F(ErrorsTest, NoLoader) {
  ::setenv("EMBER_VULKAN_LIBRARY", "libno_vulkan_here.so.1", 1);
  const std::string message = CreationError(StatusCode::kNotFound);
  ExpectHas(message,
            "device 'vulkan': Vulkan's loader, libno_vulkan_here.so.1,"
            " cannot be opened");
  ExpectHas(message, "EMBER_VULKAN_LIBRARY");
}

TEST_F(ErrorsTest, NotALoader) {
  ::setenv("EMBER_VULKAN_LIBRARY", "libm.so.6", 1);
  ExpectHas(CreationError(StatusCode::kNotFound),
            "expected vkGetInstanceProcAddr in it, found none");
}

TEST_F(ErrorsTest, NoDriver) {
  SetFault("vkCreateInstance", 1, VK_ERROR_INCOMPATIBLE_DRIVER);
  const std::string message = CreationError(StatusCode::kNotFound);
  ExpectHas(message, "finds no driver (VK_ERROR_INCOMPATIBLE_DRIVER)");
  ExpectHas(message, "mesa-vulkan-drivers");
}

TEST_F(ErrorsTest, NoDevice) {
  SetFault("vkEnumeratePhysicalDevices", 1, VK_SUCCESS);
  ExpectHas(CreationError(StatusCode::kNotFound), "find no device");
  ::unsetenv("EMBER_VULKAN_FAULT");
  const Status status = CreateDevice("vulkan:99", {}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  ExpectHas(status.message(), "expected a device below 1, found 99");
}

TEST_F(ErrorsTest, NoMemory) {
  // The fault is in the second allocation, which is the first one for a buffer
  // of the test: one allocation is for the HAL driver's own memory.
  SetFault("vkAllocateMemory", 2, VK_ERROR_OUT_OF_DEVICE_MEMORY);
  EMBER_VULKAN_DEVICE(device, {});
  constexpr int64_t kBytes = 10'000'000;
  const auto refused = device->Allocate(kBytes, MemoryKind::kDeviceLocal);
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  ExpectHas(refused.status().message(), "a request for 10000000 bytes");
  ExpectHas(refused.status().message(), "VK_ERROR_OUT_OF_DEVICE_MEMORY");
  EXPECT_EQ(device->memory_statistics().live_bytes, 0);
  EXPECT_TRUE(device->Allocate(kBytes, MemoryKind::kDeviceLocal).ok());
}

TEST_F(ErrorsTest, MoreThanThereIs) {
  EMBER_VULKAN_DEVICE(device, {});
  for (int64_t bytes : {int64_t{1} << 40, INT64_MAX - 5, INT64_MAX}) {
    const auto refused = device->Allocate(bytes, MemoryKind::kDeviceLocal);
    EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
    ExpectHas(refused.status().message(), std::to_string(bytes));
  }
  EXPECT_EQ(device->memory_statistics().live_bytes, 0);
}

// Checks that every call on a lost device returns the error of the loss,
// although the Vulkan library works again.
void ExpectLost(Device& device, const CommandList& list) {
  const KernelCode code(Kernel::kScale, "spirv");
  for (const Status& status :
       {device.Allocate(64, MemoryKind::kHostVisible).status(),
        device.LoadExecutable(code.definition()).status(),
        device.CreateCommandList().status(), device.Submit(list).status()}) {
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    ExpectHas(status.message(),
              "gave VK_ERROR_DEVICE_LOST: the device is lost; a new one has to "
              "be made");
  }
}

TEST_F(ErrorsTest, LostWhenSubmitted) {
  SetFault("vkQueueSubmit", 2, VK_ERROR_DEVICE_LOST);
  EMBER_VULKAN_DEVICE(device, {});
  auto buffer = *device->Allocate(64, MemoryKind::kHostVisible);
  auto list = *device->CreateCommandList();
  ASSERT_TRUE(list->Fill({buffer.get(), 0, 64}, 7).ok());
  auto fence = device->Submit(*list);
  ASSERT_TRUE(fence.ok());
  ASSERT_TRUE((*fence)->Wait().ok());
  const auto lost = device->Submit(*list);
  EXPECT_EQ(lost.status().code(), StatusCode::kFailedPrecondition);
  ExpectHas(lost.status().message(), "vkQueueSubmit gave VK_ERROR_DEVICE_LOST");
  ExpectLost(*device, *list);
  // A fence of work that was complete before the loss must not report the loss.
  EXPECT_TRUE((*fence)->Wait().ok());
  EXPECT_EQ(static_cast<const uint8_t*>(buffer->host_data())[0], 7);
  EMBER_VULKAN_DEVICE(another, {});
  EXPECT_TRUE(another->Allocate(64, MemoryKind::kHostVisible).ok());
}

TEST_F(ErrorsTest, LostWhileWaiting) {
  SetFault("vkWaitSemaphores", 1, VK_ERROR_DEVICE_LOST);
  EMBER_VULKAN_DEVICE(device, {});
  auto buffer = *device->Allocate(64, MemoryKind::kHostVisible);
  auto list = *device->CreateCommandList();
  ASSERT_TRUE(list->Fill({buffer.get(), 0, 64}, 7).ok());
  auto fence = device->Submit(*list);
  ASSERT_TRUE(fence.ok());
  const Status status = (*fence)->Wait();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  ExpectHas(status.message(), "vkWaitSemaphores gave VK_ERROR_DEVICE_LOST");
  EXPECT_TRUE((*fence)->done());
  EXPECT_FALSE((*fence)->Wait().ok());
  ExpectLost(*device, *list);
}

// Uses every feature of a device once, so that each Vulkan function that the
// driver calls is called and can be made to fail.
Status UseDevice(const DeviceOptions& options) {
  EMBER_ASSIGN_OR_RETURN(auto device, CreateDevice("vulkan", options));
  EMBER_ASSIGN_OR_RETURN(auto in,
                         device->Allocate(4096, MemoryKind::kHostVisible));
  EMBER_ASSIGN_OR_RETURN(auto out,
                         device->Allocate(4096, MemoryKind::kDeviceLocal));
  EMBER_ASSIGN_OR_RETURN(auto back,
                         device->Allocate(8'000'000, MemoryKind::kHostVisible));
  const KernelCode code(Kernel::kScale, "spirv");
  EMBER_ASSIGN_OR_RETURN(auto executable,
                         device->LoadExecutable(code.definition()));
  const TexelKernel texels;
  EMBER_ASSIGN_OR_RETURN(auto reader,
                         device->LoadExecutable(texels.definition()));
  // The list is made after the objects that it uses, so that it is destroyed
  // before them: its destructor waits for its submissions.
  EMBER_ASSIGN_OR_RETURN(auto list, device->CreateCommandList());
  EMBER_RETURN_IF_ERROR(list->Fill({in.get(), 0, 4095}, 1));
  EMBER_RETURN_IF_ERROR(list->Barrier());
  const BufferRange bindings[] = {{in.get(), 0, 4096}, {out.get(), 0, 4096}};
  const int64_t parameters[] = {3};
  for (int i = 0; i < 6; ++i) {
    EMBER_RETURN_IF_ERROR(
        list->Dispatch(*executable, {.chunks = {1024, 1, 1},
                                     .bindings = bindings,
                                     .parameters = parameters}));
  }
  EMBER_RETURN_IF_ERROR(list->Barrier());
  const BufferRange views[] = {{out.get(), 0, 4096}, {back.get(), 4096, 1024}};
  EMBER_RETURN_IF_ERROR(
      list->Dispatch(*reader, {.chunks = {256, 1, 1}, .bindings = views}));
  EMBER_RETURN_IF_ERROR(
      list->Copy({out.get(), 0, 4096}, {back.get(), 0, 4096}));
  EMBER_ASSIGN_OR_RETURN(auto fence, device->Submit(*list));
  static_cast<void>(fence->done());
  EMBER_RETURN_IF_ERROR(fence->Wait());
  const auto* const bytes = static_cast<const uint8_t*>(back->host_data());
  if (bytes[5] == 3 && bytes[4096 + 77] == 3) return OkStatus();
  return InternalError("wrong bytes");
}

// Functions whose failure the driver tolerates: those of the pipeline cache, a
// query that is made again, those of optional extensions, and a wait in the
// destructor.
const std::set<std::string_view> kOptional = {
    "vkCreatePipelineCache", "vkDeviceWaitIdle",
    "vkEnumerateDeviceExtensionProperties", "vkGetPipelineCacheData",
    "vkGetSemaphoreCounterValue"};

// The validation layer reports objects that are not destroyed, or that are used
// after a failure.
TEST_F(ErrorsTest, AnyCallMayFail) {
  auto* const faulty_function =
      FaultyFunction<decltype(EmberFaultyFunction)>("EmberFaultyFunction");
  auto* const fault_count =
      FaultyFunction<decltype(EmberFaultCount)>("EmberFaultCount");
  ASSERT_TRUE(faulty_function != nullptr && fault_count != nullptr);
  const DeviceOptions options = {.threads = 1,
                                 .cache_folder = testing::TempDir() + "cache",
                                 .validate = true,
                                 .separate_memory = true};
  ASSERT_TRUE(UseDevice(options).ok());
  int function_count = 0, faults = 0;
  for (int64_t i = 0; faulty_function(i) != nullptr; ++i) {
    const std::string function = faulty_function(i);
    int64_t call = 1;
    for (bool is_hit = true; is_hit; ++call) {
      // The first call of each function is made to fail with each of the two
      // errors. Later calls fail with one of them, alternately, to save time.
      for (VkResult result :
           {VK_ERROR_DEVICE_LOST, VK_ERROR_OUT_OF_HOST_MEMORY}) {
        if (call > 1 && (call % 2 == 0) == (result == VK_ERROR_DEVICE_LOST))
          continue;
        SCOPED_TRACE(Concat(
            {function, " ", call, " gives ", static_cast<int64_t>(result)}));
        SetFault(function, call, result);
        const Status status = UseDevice(options);
        is_hit = fault_count() > 0;
        faults += is_hit;
        const bool may_work = !is_hit || kOptional.count(function) > 0;
        EXPECT_TRUE(may_work || !status.ok());
        EXPECT_TRUE(is_hit || status.ok()) << status.ToString();
        EXPECT_NE(status.code(), StatusCode::kInternal) << status.ToString();
      }
      ASSERT_EQ(ValidationMessageCount(), 0);
    }
    EXPECT_GT(call, 2) << function << " is never called";
    ++function_count;
  }
  RecordProperty("functions", function_count);
  RecordProperty("faults", faults);
  std::printf("%d functions, %d faults\n", function_count, faults);
  EXPECT_GT(function_count, 25);
}

}  // namespace
}  // namespace ember::hal::vulkan
