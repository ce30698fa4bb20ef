// Tests which CUDA functions the driver calls, which the HAL's conformance
// suite cannot observe.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hal/conformance/kernels.h"
#include "hal/cuda/emulated/emulated_cuda.h"
#include "hal/cuda/emulated/grid.h"
#include "hal/cuda/emulated/tensor_map.h"
#include "hal/registry/drivers.h"

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
  // One of the two blocks of pinned memory is kept for later buffers, so only
  // the other one is freed.
  EXPECT_EQ(CallsOf("cuMemFreeHost"), 1);
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

// A kernel for the emulated GPU that reverses numbers. It uses what a real
// kernel does: several threads, their numbers, and shared memory.
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
                           .has_barriers = true};
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

// StoreMaps is a kernel that writes the contents of its two tensor maps to its
// output, at the offset that its parameter gives. Its bindings are the output
// and the tensor of the maps. It writes kMapNumbers values for each map.
constexpr size_t kMapNumbers = 18;

void StoreMaps(GridThread*, void* const* arguments) {
  auto* out = *static_cast<uint64_t* const*>(arguments[0]) +
              *static_cast<const int64_t*>(arguments[2]);
  for (int i = 3; i < 5; ++i) {
    TensorMap map;
    *out++ = ReadTensorMap(arguments[i], map);
    *out++ = reinterpret_cast<uintptr_t>(arguments[i]) % 64;
    *out++ = map.address;
    *out++ = map.element_bytes;
    *out++ = map.rank;
    *out++ = map.is_swizzled;
    for (size_t dim = 0; dim < 4; ++dim) {
      *out++ = map.extents[dim];
      *out++ = map.strides[dim];
      *out++ = map.box[dim];
    }
  }
}

class TensorMapsTest : public testing::Test {
 protected:
  TensorMapsTest() {
    const GridEntry entry = {.name = "store_maps",
                             .function = StoreMaps,
                             .argument_count = 3,
                             .map_count = 2};
    image_ = WriteGridImage({&entry, 1});
    definition_.name = definition_.entry_point = "store_maps";
    definition_.format = "emulated-grid";
    definition_.code = image_;
    definition_.binding_count = 2;
    definition_.parameter_count = 1;
    definition_.maps = maps_;
  }

  // Loads the definition as it was changed by the test, and returns the status.
  Status Load() { return device_->LoadExecutable(definition_).status(); }
  // Records a dispatch whose tensors have these extents and returns its status.
  // The tensor is bound at byte `offset` of its buffer.
  Status Record(std::vector<int64_t> extents, int64_t length = 4096,
                int64_t parameter = 0, int64_t offset = 1024) {
    if (executable_ == nullptr)
      executable_ = *device_->LoadExecutable(definition_);
    if (list_ == nullptr) list_ = *device_->CreateCommandList();
    const BufferRange bindings[] = {{out_.get(), 0, out_->size()},
                                    {tensors_.get(), offset, length}};
    return list_->Dispatch(*executable_, {.bindings = bindings,
                                          .parameters = {&parameter, 1},
                                          .map_extents = extents});
  }
  std::span<uint64_t> numbers() {
    return {static_cast<uint64_t*>(out_->host_data()),
            static_cast<size_t>(out_->size() / 8)};
  }
  // Returns the values that the kernel wrote for one map; the first of them is
  // number `first` in the output.
  std::vector<uint64_t> Stored(size_t first) {
    const auto found = numbers().subspan(first, kMapNumbers);
    return {found.begin(), found.end()};
  }
  uint64_t address() {
    return reinterpret_cast<uintptr_t>(tensors_->host_data()) + 1024;
  }

  std::shared_ptr<Device> device_ = *CreateDevice("cuda-emulated", {});
  std::unique_ptr<Buffer> out_ =
      *device_->Allocate(8192, MemoryKind::kHostVisible);
  std::unique_ptr<Buffer> tensors_ =
      *device_->Allocate(8192, MemoryKind::kHostVisible);
  std::vector<BoxMap> maps_ = {
      {.binding = 1,
       .element_bytes = 2,
       .dims = 3,
       .box = {1, 256, 64},
       .is_swizzled = true},
      {.binding = 1, .element_bytes = 8, .dims = 1, .box = {2}}};
  std::vector<uint8_t> image_;
  ExecutableDefinition definition_;
  std::unique_ptr<Executable> executable_;
  std::unique_ptr<CommandList> list_;
};

TEST_F(TensorMapsTest, AreArgumentsOfEachDispatch) {
  ASSERT_EQ(Record({3, 7, 40, 9}).ToString(), "OK");
  EXPECT_EQ(CallsOf("cuTensorMapEncodeTiled"), 2);
  ASSERT_TRUE((*device_->Submit(*list_))->Wait().ok());
  EXPECT_EQ(Stored(0), (std::vector<uint64_t>{1, 0, address(), 2, 3, 1,  //
                                              40, 2, 64,                 //
                                              7, 80, 256,                //
                                              3, 560, 1,                 //
                                              1, 0, 1}));
  EXPECT_EQ(Stored(kMapNumbers),
            (std::vector<uint64_t>{1, 0, address(), 8, 1, 0,  //
                                   9, 8, 2,                   //
                                   1, 0, 1, 1, 0, 1, 1, 0, 1}));
}

// A box may have the tensor's dims in another order. Each dim of the encoded
// map must then have the stride of the tensor's dim that it belongs to.
TEST_F(TensorMapsTest, HaveTheirOrderOfDims) {
  maps_[0].box = {2, 256, 64};
  maps_[0].order[0] = 1;
  maps_[0].order[1] = 0;
  definition_.maps = maps_;
  ASSERT_EQ(Record({3, 7, 40, 9}).ToString(), "OK");
  ASSERT_TRUE((*device_->Submit(*list_))->Wait().ok());
  EXPECT_EQ(Stored(0), (std::vector<uint64_t>{1, 0, address(), 2, 3, 1,  //
                                              40, 2, 64,                 //
                                              3, 560, 2,                 //
                                              7, 80, 256,                //
                                              1, 0, 1}));
}

// The tensor maps of a dispatch are encoded when it is recorded. Their bytes
// must stay valid for CUDA graphs when further dispatches are recorded.
TEST_F(TensorMapsTest, GraphsReplayThem) {
  constexpr int kDispatches = 6;
  for (int i = 0; i < kDispatches; ++i) {
    ASSERT_EQ(Record({3, 7, 8 * (i + 1), i + 1}, 4096,
                     static_cast<int64_t>(2 * kMapNumbers) * i)
                  .ToString(),
              "OK");
    // From four commands on the list is run as a CUDA graph, which is made anew
    // after each new command. The graph of all dispatches is launched four
    // times.
    const int runs = i + 1 < kDispatches ? 1 : 4;
    for (int run = 0; run < runs; ++run) {
      std::ranges::fill(numbers(), 0);
      ASSERT_TRUE((*device_->Submit(*list_))->Wait().ok());
      for (int j = 0; j <= i; ++j) {
        const size_t at = 2 * kMapNumbers * static_cast<size_t>(j);
        EXPECT_EQ(Stored(at)[0], 1u);
        EXPECT_EQ(Stored(at)[6], static_cast<uint64_t>(8 * (j + 1)));
        EXPECT_EQ(Stored(at + kMapNumbers)[6], static_cast<uint64_t>(j + 1));
      }
    }
  }
  EXPECT_GE(CallsOf("cuGraphLaunch"), 3);
  EXPECT_EQ(CallsOf("cuTensorMapEncodeTiled"), 2 * kDispatches);
}

// All CUDA drivers accept arguments of at most 4 KiB in all. The definition has
// two maps and 481 numbers of 8 bytes, which is one number too many.
TEST_F(TensorMapsTest, RefusesMoreArgumentsThanDriversTake) {
  definition_.binding_count = 256;
  definition_.parameter_count = 225;
  const Status status = Load();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "executable 'store_maps': expected at most 4096 bytes of "
            "arguments, found 4224 of 256 bindings, 225 parameters and 2 "
            "tensor maps");
  definition_.parameter_count = 224;
  EXPECT_EQ(Load().ToString().find("bytes of arguments"), std::string::npos);
}

TEST_F(TensorMapsTest, RefusesWrongExtents) {
  const std::string who = "executable 'store_maps': ";
  const auto refusal = [&](const std::vector<int64_t>& extents,
                           int64_t length = 4096) {
    const Status status = Record(extents, length);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(refusal({3, 7, 40}),
            who + "expected 4 extents of tensor maps, found 3");
  EXPECT_EQ(refusal({3, 0, 40, 9}),
            who + "tensor map 0: expected extents from 1 to 2^32, found 0");
  EXPECT_EQ(refusal({3, 7, 40, (int64_t{1} << 32) + 1}),
            who +
                "tensor map 1: expected extents from 1 to 2^32, found "
                "4294967297");
  EXPECT_EQ(refusal({3, 7, 41, 9}),
            who +
                "tensor map 0: expected strides of a multiple of 16 bytes and "
                "below 2^40, found 82");
  // The extents of the first dispatch give a tensor of 1680 bytes, one more
  // than its binding has. Those of the second give a tensor that is larger than
  // any memory.
  EXPECT_EQ(refusal({3, 7, 40, 9}, 1679),
            who +
                "tensor map 0: expected a tensor within 1679 bytes of binding "
                "1, found a larger one");
  EXPECT_EQ(refusal({int64_t{1} << 32, int64_t{1} << 32, 40, 9}),
            who +
                "tensor map 0: expected a tensor within 4096 bytes of binding "
                "1, found a larger one");
  EXPECT_EQ(Record({3, 7, 40, 9}, 4096, 0, 1032).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(CallsOf("cuLaunchKernel"), 0);
  // The refused commands must not have been added to the list, so submitting it
  // changes nothing.
  std::ranges::fill(numbers(), 7);
  ASSERT_TRUE((*device_->Submit(*list_))->Wait().ok());
  EXPECT_EQ(numbers()[0], 7u);
}

TEST_F(TensorMapsTest, RefusesMapsThatCannotBe) {
  const std::string who = "executable 'store_maps': tensor map 0: ";
  const BoxMap good = maps_[0];
  const auto refusal = [&](auto change) {
    maps_[0] = good;
    change(maps_[0]);
    const Status status = Load();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(refusal([](BoxMap& map) { map.binding = 2; }),
            who + "expected a binding below 2, found 2");
  EXPECT_EQ(refusal([](BoxMap& map) { map.binding = -1; }),
            who + "expected a binding below 2, found -1");
  for (const int bytes : {0, 3, 16}) {
    EXPECT_EQ(refusal([&](BoxMap& map) { map.element_bytes = bytes; }),
              who + "expected elements of 1, 2, 4 or 8 bytes, found " +
                  std::to_string(bytes));
  }
  for (const int dims : {0, 6}) {
    EXPECT_EQ(refusal([&](BoxMap& map) { map.dims = dims; }),
              who + "expected 1 to 5 dims, found " + std::to_string(dims));
  }
  for (const uint32_t extent : {0u, 257u}) {
    EXPECT_EQ(refusal([&](BoxMap& map) { map.box[1] = extent; }),
              who + "expected a box of 1 to 256 elements in each dim, found " +
                  std::to_string(extent));
  }
  EXPECT_EQ(refusal([](BoxMap& map) { map.box[2] = 60; }),
            who + "expected rows of a multiple of 16 bytes, found 120");
  EXPECT_EQ(refusal([](BoxMap& map) { map.box[2] = 72; }),
            who +
                "expected at most 128 bytes in a row that is swizzled, found "
                "144");
  EXPECT_EQ(refusal([](BoxMap& map) { map.order[0] = 1; }),
            who + "expected an order with each dim once, found 1");
  EXPECT_EQ(refusal([](BoxMap& map) { map.order[1] = 3; }),
            who + "expected an order with each dim once, found 3");
  EXPECT_EQ(refusal([](BoxMap& map) { std::swap(map.order[1], map.order[2]); }),
            who +
                "expected the tensor's innermost dim last in its order, found "
                "1");
  maps_[0] = good;
  EXPECT_EQ(Load().ToString(), "OK");
}

}  // namespace
}  // namespace ember::hal::cuda
