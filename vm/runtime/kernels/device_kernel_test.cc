// Tests the launcher of kernels on devices without a session, and the arguments
// that it passes to a dispatch. The kernel is a function of this process on the
// emulated grid. Kernels that the compiler makes are tested in jit/kernel.
#include "vm/runtime/kernels/device_kernel.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cuda/emulated/grid.h"
#include "hal/cuda/emulated/tensor_map.h"
#include "hal/registry/drivers.h"
#include "vm/format/kernel_image_text.h"
#include "vm/runtime/testing/fake_device.h"

namespace ember::vm {
namespace {

using hal::cuda::GridEntry;
using hal::cuda::GridThread;
using hal::cuda::TensorMap;
using ::testing::HasSubstr;

constexpr const char* kImage = R"(kernel "copy" for "sm_80+emulated" {
  tier 2
  parameters 2
  %0: i64 = parameter 0
  %1: i64 = parameter 1
  %2: i64 = constant 32
  input "x": bf16[%0, %1] align 16
  output "y": u64[%2] align 16
  phase tasks %0
  code emulated-grid align 1 entries {
    device "store" tasks 2 workgroups 3 bindings 1 0 boxes 1 [8, 64] swizzled 0 [16]
  }
}
)";
constexpr size_t kResults = 32;

// The kernel's function. Its arguments are y, x, the parameters, the number of
// the first task, and then the tensor maps of x and y.
void Store(GridThread* thread, void* const* arguments) {
  auto* out = *static_cast<uint64_t* const*>(arguments[0]);
  out[0] = thread->blocks[0] * thread->blocks[1];
  out[1] = *static_cast<const uint64_t*>(arguments[3]);
  out[2] = *static_cast<const uint64_t*>(arguments[4]);
  out += 3;
  for (int i = 0; i < 2; ++i) {
    TensorMap map;
    *out++ = ReadTensorMap(arguments[5 + i], map);
    *out++ = map.address == *static_cast<const uint64_t*>(arguments[1 - i]);
    for (const uint64_t number :
         {uint64_t{map.rank}, uint64_t{map.element_bytes},
          uint64_t{map.is_swizzled}, map.extents[0], map.extents[1],
          map.strides[1], uint64_t{map.box[0]}, uint64_t{map.box[1]}})
      *out++ = number;
  }
}

KernelImage Image(std::string_view from = "", std::string_view to = "") {
  std::string text = kImage;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  auto image = ParseKernelImage(text);
  EXPECT_TRUE(image.ok()) << image.status().ToString();
  const GridEntry entry = {
      .name = "store", .function = Store, .argument_count = 5, .map_count = 2};
  auto code = std::make_shared<std::vector<uint8_t>>(
      hal::cuda::WriteGridImage({&entry, 1}));
  image->code.bytes = *code;
  image->code.owner = std::move(code);
  return *std::move(image);
}

class DeviceKernelTest : public testing::Test {
 protected:
  DeviceKernelTest() {
    kernel_ = *DeviceKernel::Create({.image = Image(), .device = device_});
  }

  // Calls the kernel for an x of `rows` rows and `columns` columns, and returns
  // the results in y.
  StatusOr<std::vector<uint64_t>> Call(int64_t rows, int64_t columns) {
    EMBER_ASSIGN_OR_RETURN(
        auto x, device_->Allocate(std::max<int64_t>(rows * columns * 2, 1),
                                  hal::MemoryKind::kHostVisible));
    EMBER_ASSIGN_OR_RETURN(
        auto y, device_->Allocate(kResults * 8, hal::MemoryKind::kHostVisible));
    EMBER_ASSIGN_OR_RETURN(auto list, device_->CreateCommandList());
    const hal::BufferRange ranges[] = {{x.get(), 0, rows * columns * 2},
                                       {y.get(), 0, kResults * 8}};
    const int64_t parameters[] = {rows, columns};
    EMBER_ASSIGN_OR_RETURN(auto recording,
                           kernel_->Record({parameters, ranges, *list}));
    EMBER_ASSIGN_OR_RETURN(auto fence, device_->Submit(*list));
    EMBER_RETURN_IF_ERROR(fence->Wait());
    const auto* const found = static_cast<const uint64_t*>(y->host_data());
    return std::vector<uint64_t>(found, found + kResults);
  }

  std::shared_ptr<hal::Device> device_ =
      *hal::CreateDevice("cuda-emulated", {});
  std::unique_ptr<DeviceKernel> kernel_;
};

TEST_F(DeviceKernelTest, MapsAreOfTheCallsExtents) {
  for (const uint64_t rows : {1, 3, 40}) {
    const uint64_t columns = rows * 8;
    const auto found =
        Call(static_cast<int64_t>(rows), static_cast<int64_t>(columns));
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    std::vector<uint64_t> expected = {
        // The kernel returns its arguments. The first three are the number of
        // workgroups (of two rows each, at most three), the number of columns,
        // and 0.
        std::min<uint64_t>((rows + 1) / 2, 3), columns, 0,
        // The kernel then returns the fields of the tensor map of x.
        1, 1, 2, 2, 1, columns, rows, columns * 2, 64, 8,
        // The kernel then returns the fields of the tensor map of y.
        1, 1, 1, 8, 0, 32, 1, 0, 16, 1};
    expected.resize(kResults);
    EXPECT_EQ(*found, expected);
  }
}

// The error must be Unimplemented, after which a session runs the dispatch on
// the host.
TEST_F(DeviceKernelTest, RefusesCallsWhoseTensorsHaveNoMap) {
  const std::string who =
      "device-limit: the device has too little of what the kernel needs: "
      "dispatch @copy: a tensor map of buffer %x";
  const Status stride = Call(3, 12).status();
  EXPECT_EQ(stride.code(), StatusCode::kUnimplemented);
  EXPECT_EQ(stride.message(),
            who +
                " with a stride of 24 bytes, where the device wants a "
                "multiple of 16");
  const Status empty = Call(3, 0).status();
  EXPECT_EQ(empty.code(), StatusCode::kUnimplemented);
  EXPECT_EQ(empty.message(), who + ", which has no elements");
  // A call without tasks must record no commands.
  const auto nothing = Call(0, 12);
  ASSERT_TRUE(nothing.ok()) << nothing.status().ToString();
  EXPECT_EQ(*nothing, std::vector<uint64_t>(kResults));
}

// If an image is for one shape only, the error must be returned when the kernel
// is created.
TEST_F(DeviceKernelTest, RefusesItsOneShape) {
  for (const auto& [extents, message] :
       {std::pair("%1: i64 = constant 24", ""),
        std::pair("%1: i64 = constant 20", "with a stride of 40 bytes")}) {
    KernelImage image = Image(
        "parameters 2\n  %0: i64 = parameter 0\n  %1: i64 = parameter 1",
        std::string("shape [9, 9]\n  %0: i64 = constant 9\n  ") + extents);
    const Status status =
        DeviceKernel::Create({.image = std::move(image), .device = device_})
            .status();
    EXPECT_EQ(status.ok(), std::string_view(message).empty());
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

// A prologue, which packs constants, may copy boxes by tensor maps, too.
TEST_F(DeviceKernelTest, PrologueTakesMaps) {
  const auto create = [&](int64_t columns) {
    KernelImage image =
        Image("  phase tasks %0\n  code emulated-grid align 1 entries {\n",
              "  packed \"p\": u64[%2]\n  prologue tasks %0\n  phase tasks %0\n"
              "  code emulated-grid align 1 entries {\n"
              "    device \"store\" bindings 2 0 boxes 1 [8, 64] 0 [16]\n");
    const std::vector<uint8_t> x(static_cast<size_t>(3 * columns * 2));
    return DeviceKernel::Create({.image = std::move(image),
                                 .device = device_,
                                 .constants = {x},
                                 .prologue_parameters = {3, columns}})
        .status();
  };
  EXPECT_EQ(create(16).ToString(), "OK");
  EXPECT_THAT(create(12).ToString(), HasSubstr("with a stride of 24 bytes"));
}

TEST_F(DeviceKernelTest, RefusesDevicesWithoutMaps) {
  const Status status =
      DeviceKernel::Create(
          {.image = Image(),
           .device = std::make_shared<FakeDevice>(FakeDeviceOptions{})})
          .status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("2 tensor maps, where a kernel of the device has 0"));
}

// Without a limit on workgroups, a launch must have as many workgroups as the
// tasks need.
TEST_F(DeviceKernelTest, RecordsAllWorkgroups) {
  kernel_ = *DeviceKernel::Create(
      {.image = Image(" workgroups 3", ""), .device = device_});
  const auto found = Call(40, 8);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  EXPECT_EQ((*found)[0], 20u);
}

}  // namespace
}  // namespace ember::vm
