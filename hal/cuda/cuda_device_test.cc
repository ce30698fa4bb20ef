// What the HAL's conformance suite does not see: which calls of CUDA there are.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hal/conformance/kernels.h"
#include "hal/cuda/emulated/emulated_cuda.h"
#include "hal/cuda/emulated/grid.h"
#include "hal/drivers.h"

namespace ember::hal::cuda {
namespace {

int64_t CallsOf(std::string_view symbol) {
  uint64_t bytes = 0;
  const char* at = EmberEmulatedCalls(&bytes);
  int64_t count = 0;
  for (const char* const end = at + bytes; at < end;) {
    const std::string_view name = at;
    count += name == symbol;
    at += name.size() + 1;
  }
  return count;
}

TEST(CudaDeviceTest, SecondSubmissionsAreGraphs) {
  auto device = *CreateDevice("cuda-emulated", {});
  auto buffer = *device->Allocate(1024, MemoryKind::kHostVisible);
  auto list = *device->CreateCommandList();
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(
        list->Fill({buffer.get(), i * 10, 10}, static_cast<uint8_t>(i)).ok());
    if (i % 2 == 1) {
      ASSERT_TRUE(list->Barrier().ok());
    }
  }
  const int64_t fills = CallsOf("cuMemsetD8Async");
  for (int run = 0; run < 5; ++run)
    ASSERT_TRUE((*device->Submit(*list))->Wait().ok());
  EXPECT_EQ(CallsOf("cuMemsetD8Async"), fills + 6);
  EXPECT_EQ(CallsOf("cuGraphInstantiateWithFlags"), 1);
  EXPECT_EQ(CallsOf("cuGraphAddMemsetNode"), 6);
  EXPECT_EQ(CallsOf("cuGraphAddEmptyNode"), 3);
  EXPECT_EQ(CallsOf("cuGraphLaunch"), 4);
  ASSERT_TRUE(list->Fill({buffer.get(), 0, 10}, 9).ok());
  for (int run = 0; run < 2; ++run)
    ASSERT_TRUE((*device->Submit(*list))->Wait().ok());
  EXPECT_EQ(CallsOf("cuGraphInstantiateWithFlags"), 2);
  EXPECT_EQ(CallsOf("cuGraphDestroy"), 1);
  const auto* const bytes = static_cast<const uint8_t*>(buffer->host_data());
  EXPECT_EQ(bytes[0], 9);
  EXPECT_EQ(bytes[59], 5);
}

TEST(CudaDeviceTest, EntriesOfOneModuleShareIt) {
  auto device = *CreateDevice("cuda-emulated", {});
  const KernelCode code(Kernel::kScale, "emulated-grid");
  auto first = device->LoadExecutable(code.definition());
  auto second = device->LoadExecutable(code.definition());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(CallsOf("cuModuleLoadDataEx"), 1);
  (*first).reset();
  (*second).reset();
  EXPECT_EQ(CallsOf("cuModuleUnload"), 1);
  EXPECT_TRUE(device->LoadExecutable(code.definition()).ok());
  EXPECT_EQ(CallsOf("cuModuleLoadDataEx"), 2);
}

TEST(CudaDeviceTest, SmallPinnedBuffersShareBlocks) {
  auto device = *CreateDevice("cuda-emulated", {});
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (int i = 0; i < 100; ++i)
    buffers.push_back(*device->Allocate(1000, MemoryKind::kHostVisible));
  EXPECT_EQ(CallsOf("cuMemHostAlloc"), 1);
  buffers.push_back(*device->Allocate(5 << 20, MemoryKind::kHostVisible));
  EXPECT_EQ(CallsOf("cuMemHostAlloc"), 2);
  buffers.clear();
  EXPECT_EQ(CallsOf("cuMemFreeHost"), 1);  // one block stays
}

TEST(CudaDeviceTest, TimesAreTakenWhereAskedFor) {
  for (bool timestamps : {false, true}) {
    auto device = *CreateDevice("cuda-emulated", {.timestamps = timestamps});
    auto list = *device->CreateCommandList();
    auto fence = *device->Submit(*list);
    const StatusOr<double> took = fence->DeviceMilliseconds();
    EXPECT_EQ(took.ok(), timestamps);
    if (timestamps) {
      EXPECT_GE(*took, 0);
    } else {
      EXPECT_EQ(took.status().code(), StatusCode::kUnimplemented);
    }
  }
}

// Threads, their numbers, and memory of the block: dispatched as a GPU would.
void Reverse(GridThread* thread, void* const* arguments) {
  const uint32_t number = thread->thread[0];
  auto* const shared = reinterpret_cast<uint32_t*>(thread->shared);
  const auto access = [&](const void* address, AccessKind kind) {
    thread->functions->access(thread, address, 4, static_cast<uint32_t>(kind));
  };
  access(shared + number, AccessKind::kStore);
  shared[number] = number + 100 * thread->block[0];
  thread->functions->barrier(thread);
  uint32_t* const out = *static_cast<uint32_t* const*>(arguments[0]) +
                        thread->block[0] * thread->threads[0] + number;
  const uint32_t* const in = shared + (thread->threads[0] - 1 - number);
  access(in, AccessKind::kLoad);
  access(out, AccessKind::kStore);
  *out = *in;
}

TEST(CudaDeviceTest, LaunchesBlocksOfThreads) {
  auto device = *CreateDevice("cuda-emulated", {});
  auto buffer = *device->Allocate(1024, MemoryKind::kHostVisible);
  const GridEntry entry = {.name = "reverse",
                           .function = Reverse,
                           .argument_count = 1,
                           .meets = true};
  const std::vector<uint8_t> image = WriteGridImage({&entry, 1});
  ExecutableDefinition definition;
  definition.name = definition.entry_point = "reverse";
  definition.format = "emulated-grid";
  definition.code = image;
  definition.binding_count = 1;
  definition.workgroup = {40, 1, 1};
  definition.shared_bytes = 160;
  auto executable = device->LoadExecutable(definition);
  ASSERT_TRUE(executable.ok()) << executable.status().ToString();
  auto list = *device->CreateCommandList();
  const BufferRange bindings[] = {{buffer.get(), 0, 1024}};
  ASSERT_TRUE(
      list->Dispatch(**executable, {.chunks = {3, 1, 1}, .bindings = bindings})
          .ok());
  ASSERT_TRUE((*device->Submit(*list))->Wait().ok());
  const auto* const found = static_cast<const uint32_t*>(buffer->host_data());
  for (uint32_t i = 0; i < 120; ++i)
    EXPECT_EQ(found[i], i / 40 * 100 + (39 - i % 40)) << i;
}

}  // namespace
}  // namespace ember::hal::cuda
