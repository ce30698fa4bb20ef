// Tests errors with an external cause: no library, no device, no memory, a
// kernel that faults. Each call of a CUDA function is made to fail, with two
// errors.
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "base/concat.h"
#include "gtest/gtest.h"
#include "hal/conformance/kernels.h"
#include "hal/cuda/api/result.h"
#include "hal/cuda/emulated/emulated_cuda.h"
#include "hal/registry/drivers.h"

namespace ember::hal::cuda {
namespace {

void ExpectHas(std::string_view text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string_view::npos) << text;
}

void ExpectCpuWorks() {
  auto device = CreateDevice("cpu", {.threads = 1});
  ASSERT_TRUE(device.ok());
  auto list = (*device)->CreateCommandList();
  auto buffer = (*device)->Allocate(64, MemoryKind::kHostVisible);
  ASSERT_TRUE(buffer.ok());
  ASSERT_TRUE((*list)->Fill({buffer->get(), 0, 64}, 1).ok());
  auto fence = (*device)->Submit(**list);
  ASSERT_TRUE((*fence)->Wait().ok());
  EXPECT_EQ(static_cast<const uint8_t*>((*buffer)->host_data())[63], 1);
}

class ErrorsTest : public testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv("EMBER_CUDA_LIBRARY");
    ::unsetenv("EMBER_CUDA_FAULT");
    ::unsetenv("EMBER_CUDA_EMULATE");
    EXPECT_EQ(EmberEmulatedLeaks(), leaks_);
    ExpectCpuWorks();
  }

  static void SetFault(std::string_view function, int64_t call,
                       CUresult result) {
    ::setenv("EMBER_CUDA_FAULT",
             Concat({function, ":", call, ":", result}).c_str(), 1);
  }

  // Number of leaked objects before the test; the test fails if it leaks
  // further ones.
  int64_t leaks_ = EmberEmulatedLeaks();
};

TEST_F(ErrorsTest, NoLibrary) {
  ::setenv("EMBER_CUDA_LIBRARY", "libno_cuda_here.so.1", 1);
  const Status status = CreateDevice("cuda", {}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  ExpectHas(status.message(),
            "device 'cuda': CUDA's driver, libno_cuda_here.so.1, cannot be "
            "opened");
  ExpectHas(status.message(), "EMBER_CUDA_LIBRARY");
}

TEST_F(ErrorsTest, NotTheLibrary) {
  ::setenv("EMBER_CUDA_LIBRARY", "libm.so.6", 1);
  const Status status = CreateDevice("cuda", {}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  ExpectHas(status.message(),
            "expected the function cuInit of CUDA 11.4 in it");
}

TEST_F(ErrorsTest, NoDevice) {
  SetFault("cuInit", 1, kNoDevice);
  const Status none = CreateDevice("cuda-emulated", {}).status();
  EXPECT_EQ(none.code(), StatusCode::kNotFound);
  ExpectHas(none.message(), "cuInit gave CUDA_ERROR_NO_DEVICE");
  ::unsetenv("EMBER_CUDA_FAULT");
  const Status other = CreateDevice("cuda-emulated:7", {}).status();
  EXPECT_EQ(other.code(), StatusCode::kNotFound);
  ExpectHas(other.message(), "expected a device below 1, found 7");
}

// The variable EMBER_CUDA_WITHOUT_TENSOR_MAPS makes the driver offer no tensor
// maps, even on a device that has them.
TEST_F(ErrorsTest, WithoutTensorMaps) {
  ::setenv("EMBER_CUDA_EMULATE", "sm_90a", 1);
  ::setenv("EMBER_CUDA_WITHOUT_TENSOR_MAPS", "1", 1);
  const auto device = CreateDevice("cuda-emulated", {});
  ::unsetenv("EMBER_CUDA_WITHOUT_TENSOR_MAPS");
  ASSERT_TRUE(device.ok());
  EXPECT_EQ((*device)->target(),
            "sm_90a+emulated+subgroup32+shared232448+invocations1024+"
            "processors132");
  EXPECT_EQ((*device)->limits().map_count, 0);
}

TEST_F(ErrorsTest, TwoDevices) {
  ::setenv("EMBER_CUDA_EMULATE", "sm_90a:2", 1);
  auto first = CreateDevice("cuda-emulated", {});
  auto second = CreateDevice("cuda-emulated:1", {});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ((*second)->target(),
            "sm_90a+emulated+subgroup32+shared232448+invocations1024+"
            "processors132+tensor_maps");
  auto buffer = (*second)->Allocate(64, MemoryKind::kDeviceLocal);
  EXPECT_TRUE(buffer.ok());
  EXPECT_EQ((*first)->memory_statistics().live_bytes, 0);
}

TEST_F(ErrorsTest, NoMemory) {
  SetFault("cuMemAllocFromPoolAsync", 1, kOutOfMemory);
  auto device = *CreateDevice("cuda-emulated", {});
  const auto refused = device->Allocate(10'000'000, MemoryKind::kDeviceLocal);
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  ExpectHas(refused.status().message(), "a request for 10000000 bytes");
  ExpectHas(refused.status().message(), "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(device->memory_statistics().live_bytes, 0);
  EXPECT_TRUE(device->Allocate(10'000'000, MemoryKind::kDeviceLocal).ok());
  for (int64_t bytes : {int64_t{1} << 40, INT64_MAX}) {
    for (MemoryKind kind :
         {MemoryKind::kDeviceLocal, MemoryKind::kHostVisible}) {
      const auto more = device->Allocate(bytes, kind);
      EXPECT_EQ(more.status().code(), StatusCode::kResourceExhausted);
      ExpectHas(more.status().message(), std::to_string(bytes));
    }
  }
}

TEST_F(ErrorsTest, CodeThatIsNone) {
  auto device = *CreateDevice("cuda-emulated", {});
  const KernelCode code(Kernel::kScale, "emulated-grid");
  ExecutableDefinition definition = code.definition();
  definition.entry_point = "another";
  Status status = device->LoadExecutable(definition).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  ExpectHas(status.message(), "entry point 'another'");
  definition = code.definition();
  const std::vector<uint8_t> zeros(64);
  definition.code = zeros;
  status = device->LoadExecutable(definition).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  ExpectHas(status.message(), "expected an image of an emulated grid");
  definition = code.definition();
  definition.workgroup = {2048, 1, 1};
  EXPECT_EQ(device->LoadExecutable(definition).status().code(),
            StatusCode::kResourceExhausted);
  definition = code.definition();
  definition.shared_bytes = int64_t{1} << 20;
  EXPECT_EQ(device->LoadExecutable(definition).status().code(),
            StatusCode::kResourceExhausted);
}

// Loads the same code with a library like a driver of CUDA 12 and with one like
// CUDA 11.4. The second one refuses tensor maps; everything else works.
TEST_F(ErrorsTest, ADriverBeforeTensorMaps) {
  const KernelCode code(Kernel::kScale, "emulated-grid");
  const BoxMap map = {.element_bytes = 4, .dims = 1, .box = {4}};
  ExecutableDefinition with_map = code.definition();
  with_map.maps = {&map, 1};
  ::setenv("EMBER_CUDA_LIBRARY", "hal/cuda/emulated/libfake_cuda.so", 1);
  auto device = *CreateDevice("cuda", {});
  EXPECT_TRUE(device->LoadExecutable(with_map).ok());

  ::setenv("EMBER_CUDA_LIBRARY", "hal/cuda/emulated/libfake_cuda_11.so", 1);
  device = *CreateDevice("cuda", {});
  EXPECT_EQ(device->limits().map_count, 0);
  const Status status = device->LoadExecutable(with_map).status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(),
            "cuda device: executable 'scale': expected a driver for CUDA 12.0 "
            "or newer, as the code takes tensor maps, found one for CUDA 11.4");
  auto buffer = *device->Allocate(64, MemoryKind::kHostVisible);
  auto* const numbers = static_cast<uint32_t*>(buffer->host_data());
  numbers[2] = 5;
  auto executable = *device->LoadExecutable(code.definition());
  auto list = *device->CreateCommandList();
  const BufferRange bindings[] = {{buffer.get(), 0, 64}, {buffer.get(), 0, 64}};
  const int64_t parameters[] = {3};
  ASSERT_TRUE(list->Dispatch(*executable, {.chunks = {16, 1, 1},
                                           .bindings = bindings,
                                           .parameters = parameters})
                  .ok());
  ASSERT_TRUE((*device->Submit(*list))->Wait().ok());
  EXPECT_EQ(numbers[2], 15u);
}

// The dispatch's first blocks run correctly, later ones access memory that does
// not exist. The whole context is then lost.
TEST_F(ErrorsTest, AKernelFaults) {
  auto device = *CreateDevice("cuda-emulated", {});
  auto buffer = *device->Allocate(4096, MemoryKind::kHostVisible);
  auto large = *device->Allocate(8 << 20, MemoryKind::kHostVisible);
  const KernelCode code(Kernel::kScale, "emulated-grid");
  auto executable = *device->LoadExecutable(code.definition());
  auto list = *device->CreateCommandList();
  const BufferRange bindings[] = {{large.get(), 0, 64}, {large.get(), 0, 64}};
  const int64_t parameters[] = {3};
  // There are so many chunks that the kernel accesses memory behind the end of
  // the buffer.
  ASSERT_TRUE(list->Dispatch(*executable, {.chunks = {1 << 20, 4, 1},
                                           .bindings = bindings,
                                           .parameters = parameters})
                  .ok());
  const auto lost = device->Submit(*list);
  EXPECT_EQ(lost.status().code(), StatusCode::kFailedPrecondition);
  ExpectHas(lost.status().message(),
            "cuLaunchKernel gave CUDA_ERROR_LAUNCH_FAILED: the device is lost; "
            "a new one has to be made");
  ExpectHas(EmberEmulatedProblem(), "kernel scale, block (0, 2, 0)");
  ExpectHas(EmberEmulatedProblem(), "outside of the device's memory");
  for (const Status& status :
       {device->Allocate(64, MemoryKind::kHostVisible).status(),
        device->LoadExecutable(code.definition()).status(),
        device->CreateCommandList().status(), device->Submit(*list).status()}) {
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  }
  list.reset();
  executable.reset();
  buffer.reset();
  large.reset();
  device.reset();
  device = *CreateDevice("cuda-emulated", {});
  EXPECT_TRUE(device->Allocate(64, MemoryKind::kDeviceLocal).ok());
}

// Uses every feature of a device once, so that each CUDA function that the
// driver calls is called and can be made to fail.
Status UseDevice() {
  EMBER_ASSIGN_OR_RETURN(
      auto device,
      CreateDevice("cuda-emulated", {.threads = 1, .timestamps = true}));
  EMBER_ASSIGN_OR_RETURN(auto in,
                         device->Allocate(4096, MemoryKind::kHostVisible));
  EMBER_ASSIGN_OR_RETURN(auto out,
                         device->Allocate(4096, MemoryKind::kDeviceLocal));
  EMBER_ASSIGN_OR_RETURN(auto back,
                         device->Allocate(8'000'000, MemoryKind::kHostVisible));
  const KernelCode code(Kernel::kScale, "emulated-grid");
  ExecutableDefinition definition = code.definition();
  definition.shared_bytes = 64 << 10;
  const BoxMap map = {.element_bytes = 4, .dims = 2, .box = {4, 4}};
  definition.maps = {&map, 1};
  EMBER_ASSIGN_OR_RETURN(auto executable, device->LoadExecutable(definition));
  EMBER_ASSIGN_OR_RETURN(auto list, device->CreateCommandList());
  EMBER_RETURN_IF_ERROR(list->Fill({in.get(), 0, 4095}, 1));
  EMBER_RETURN_IF_ERROR(list->Fill({back.get(), 0, 8}, 1));
  EMBER_RETURN_IF_ERROR(list->Barrier());
  const BufferRange bindings[] = {{in.get(), 0, 4096}, {out.get(), 0, 4096}};
  const int64_t parameters[] = {3}, extents[] = {16, 64};
  EMBER_RETURN_IF_ERROR(list->Dispatch(*executable, {.chunks = {1024, 1, 1},
                                                     .bindings = bindings,
                                                     .parameters = parameters,
                                                     .map_extents = extents}));
  EMBER_RETURN_IF_ERROR(list->Barrier());
  EMBER_RETURN_IF_ERROR(
      list->Copy({out.get(), 0, 4096}, {back.get(), 0, 4096}));
  // The list is submitted three times: command by command, as a graph that is
  // made then, and as the same graph again.
  for (int run = 0; run < 3; ++run) {
    EMBER_ASSIGN_OR_RETURN(auto fence, device->Submit(*list));
    static_cast<void>(fence->done());
    EMBER_RETURN_IF_ERROR(fence->Wait());
    EMBER_ASSIGN_OR_RETURN(const double took, fence->DeviceMilliseconds());
    if (took < 0) return InternalError("negative time");
  }
  const auto* const bytes = static_cast<const uint8_t*>(back->host_data());
  return bytes[5] == 3 ? OkStatus() : InternalError("wrong bytes");
}

std::vector<std::string> CallNames() {
  uint64_t bytes = 0;
  const char* at = EmberEmulatedCalls(&bytes);
  std::vector<std::string> names;
  for (const char* const end = at + bytes; at < end;
       at += names.back().size() + 1)
    names.emplace_back(at);
  return names;
}

// True for functions whose failure the driver tolerates: functions that destroy
// objects, and queries that are repeated.
bool IsOptional(const std::string& name) {
  static const std::set<std::string> names = {
      "cuCtxPopCurrent_v2", "cuDevicePrimaryCtxRelease_v2",
      "cuEventDestroy_v2",  "cuEventQuery",
      "cuGraphDestroy",     "cuGraphExecDestroy",
      "cuMemFreeAsync",     "cuMemFreeHost",
      "cuMemPoolDestroy",   "cuModuleUnload",
      "cuStreamDestroy_v2", "cuStreamSynchronize"};
  return names.contains(name);
}

// A failing call must not crash or leak, and the error must name the call.
TEST_F(ErrorsTest, AnyCallMayFail) {
  ASSERT_TRUE(UseDevice().ok());
  const std::vector<std::string> names = CallNames();
  std::set<std::string> failed;
  int64_t unwound = 0;
  for (size_t call = 1; call <= names.size(); ++call) {
    const std::string& name = names[call - 1];
    for (CUresult result : {kOutOfMemory, kLaunchFailed}) {
      SCOPED_TRACE(Concat({"call ", call, ", ", name, ", gives ", result}));
      SetFault("*", static_cast<int64_t>(call), result);
      const Status status = UseDevice();
      EXPECT_EQ(EmberEmulatedFaults(), 1);
      failed.insert(name);
      const bool is_context = name == "cuCtxPushCurrent_v2";
      if (status.ok()) {
        EXPECT_TRUE(IsOptional(name) || is_context);
      } else {
        ++unwound;
        EXPECT_EQ(status.code(), result == kOutOfMemory
                                     ? StatusCode::kResourceExhausted
                                     : StatusCode::kFailedPrecondition)
            << status.ToString();
        // Names of symbols may end with a version (_v2). Messages contain the
        // function's name without it.
        ExpectHas(status.message(),
                  name.substr(0, name.find("_v2")).substr(0, 12));
      }
      // If making the context current fails, the driver cannot destroy the
      // context's objects. CUDA destroys them when the context ends, so they do
      // not count as leaks.
      if (is_context) leaks_ = EmberEmulatedLeaks();
      EXPECT_EQ(EmberEmulatedLeaks(), leaks_);
      if (HasFailure()) return;
    }
  }
  std::printf("%zu calls of %zu functions\n", names.size(), failed.size());
  EXPECT_GT(failed.size(), 35u);
  EXPECT_TRUE(failed.contains("cuTensorMapEncodeTiled"));
  EXPECT_GT(unwound, 100);
}

}  // namespace
}  // namespace ember::hal::cuda
