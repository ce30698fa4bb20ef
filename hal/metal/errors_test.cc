// Tests errors with an external cause: no Metal, no device, an old system, no
// memory, programs that do not compile, a lost device. Each call of Metal that
// can fail is made to fail once. The tests run on the fake functions, so every
// machine with a C++ compiler runs them.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "base/concat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/conformance/kernels.h"
#include "hal/metal/api/result.h"
#include "hal/metal/testing/fake_metal.h"
#include "hal/registry/drivers.h"

namespace ember::hal::metal {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kFake[] = "hal/metal/testing/libfake_metal.so";

template <typename Function>
Function* Fake(const char* name) {
  static void* const library = ::dlopen(kFake, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(::dlsym(library, name));
}
#define EMBER_FAKE(name) (*Fake<decltype(name)>(#name))

class ErrorsTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("EMBER_METAL_LIBRARY", kFake, 1);
    EMBER_FAKE(EmberFakeReset)();
  }
  void TearDown() override {
    EXPECT_STREQ(EMBER_FAKE(EmberFakeMisuse)(), "");
    EXPECT_EQ(EMBER_FAKE(EmberFakeObjects)(), 0);
    for (const char* name :
         {"EMBER_METAL_LIBRARY", "EMBER_METAL_FAULT", "EMBER_METAL_FAKE"})
      ::unsetenv(name);
  }

  static void SetFault(std::string_view function, int64_t call,
                       int64_t result = kPageFault) {
    ::setenv("EMBER_METAL_FAULT",
             Concat({function, ":", call, ":", result}).c_str(), 1);
    EMBER_FAKE(EmberFakeReset)();
  }
  static Status WithVariant(const char* variant) {
    ::setenv("EMBER_METAL_FAKE", variant, 1);
    return CreateDevice("metal", {.threads = 1}).status();
  }
};

TEST_F(ErrorsTest, NoMetalOnThisSystem) {
  ::unsetenv("EMBER_METAL_LIBRARY");
#if !defined(__APPLE__)
  const Status none = CreateDevice("metal", {}).status();
  EXPECT_EQ(none.code(), StatusCode::kNotFound);
  EXPECT_EQ(none.message(),
            "device 'metal': Metal: expected a system of Apple's, found "
            "another one; use the device vulkan or opencl here");
#endif
  ::setenv("EMBER_METAL_LIBRARY", "libno_metal_here.so", 1);
  const Status missing = CreateDevice("metal", {}).status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()),
              StartsWith("device 'metal': Metal: the library "
                         "libno_metal_here.so, which EMBER_METAL_LIBRARY "
                         "names, cannot be opened ("));
  ::setenv("EMBER_METAL_LIBRARY", "libm.so.6", 1);
  const Status other = CreateDevice("metal", {}).status();
  EXPECT_EQ(other.code(), StatusCode::kNotFound);
  EXPECT_EQ(other.message(),
            "device 'metal': Metal: the library libm.so.6, which "
            "EMBER_METAL_LIBRARY names: expected the function "
            "EmberMetalFunctions in it, found none");
}

TEST_F(ErrorsTest, NoDevice) {
  const Status none = WithVariant("no_device");
  EXPECT_EQ(none.code(), StatusCode::kNotFound);
  EXPECT_EQ(none.message(),
            "device 'metal': Metal: expected a device, found none");
  const Status old = WithVariant("old_language");
  EXPECT_EQ(old.code(), StatusCode::kNotFound);
  EXPECT_EQ(old.message(),
            "device 'metal': Metal: device 'fake': expected version 2.2 or "
            "newer of the Metal Shading Language, found 2.1; a newer system "
            "has it");
  ::unsetenv("EMBER_METAL_FAKE");
  const Status other = CreateDevice("metal:7", {}).status();
  EXPECT_EQ(other.code(), StatusCode::kNotFound);
  EXPECT_EQ(other.message(),
            "device 'metal:7': expected a device below 1, found 7");
}

TEST_F(ErrorsTest, NoMemory) {
  auto device = *CreateDevice("metal", {.separate_memory = true});
  for (MemoryKind kind : {MemoryKind::kDeviceLocal, MemoryKind::kHostVisible}) {
    for (const int64_t bytes : {int64_t{1} << 40, INT64_MAX}) {
      const Status status = device->Allocate(bytes, kind).status();
      EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
      EXPECT_EQ(
          status.message(),
          Concat({"buffer: expected at most 17179869184 bytes, the most of one "
                  "buffer on metal device 'fake', found a request for ",
                  bytes}));
    }
  }
  device.reset();
  SetFault("NewBuffer", 1);
  device = *CreateDevice("metal", {});
  const Status status =
      device->Allocate(1000, MemoryKind::kHostVisible).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "buffer: a request for 1000 bytes: metal device 'fake': "
            "newBufferWithLength gave nil");
  EXPECT_EQ(device->memory_statistics().live_bytes, 0);
  EXPECT_TRUE(device->Allocate(1000, MemoryKind::kHostVisible).ok());
}

TEST_F(ErrorsTest, ContentsAtAnOddAddress) {
  ::setenv("EMBER_METAL_FAKE", "misaligned", 1);
  auto device = *CreateDevice("metal", {});
  const Status status = device->Allocate(8, MemoryKind::kHostVisible).status();
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("expected contents at a multiple of 64 bytes"));
  EXPECT_EQ(device->memory_statistics().live_bytes, 0);
}

TEST_F(ErrorsTest, CodeThatIsNone) {
  auto device = *CreateDevice("metal", {});
  const KernelCode code(Kernel::kScale, "msl");
  const auto refusal = [&](const ExecutableDefinition& definition) {
    return device->LoadExecutable(definition).status();
  };
  ExecutableDefinition definition = code.definition();
  definition.entry_point = "another";
  EXPECT_EQ(refusal(definition).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(definition).message(),
            "executable 'scale': entry point 'another': metal device 'fake': "
            "newFunctionWithName gave nil");
  definition = code.definition();
  const std::string_view text = "kernel void scale() {\n  return x;\n}\n";
  definition.code = {reinterpret_cast<const uint8_t*>(text.data()),
                     text.size()};
  EXPECT_EQ(refusal(definition).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refusal(definition).message()),
              StartsWith("executable 'scale': metal device 'fake': "
                         "newLibraryWithSource gave nil: "));
  EXPECT_THAT(std::string(refusal(definition).message()),
              HasSubstr("program.cc:1:1: error: "));
  EXPECT_EQ(refusal(definition).message().find('\n'), std::string_view::npos);
  definition = code.definition();
  definition.workgroup = {2048, 1, 1};
  EXPECT_EQ(refusal(definition).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(refusal(definition).message(),
            "executable 'scale': expected 1 to 1024 invocations in dimension 0 "
            "of a workgroup, found 2048");
  definition.workgroup = {64, 64, 1};
  EXPECT_EQ(refusal(definition).message(),
            "executable 'scale': entry point 'scale': expected at most 1024 "
            "invocations in a workgroup of this code, found 4096");
  definition = code.definition();
  definition.shared_bytes = 32769;
  EXPECT_EQ(refusal(definition).message(),
            "executable 'scale': expected 0 to 32768 bytes of a workgroup's "
            "memory, found 32769");
}

TEST_F(ErrorsTest, DeviceIsLost) {
  SetFault("Commit", 1, kDeviceRemoved);
  auto device = *CreateDevice("metal", {});
  auto buffer = *device->Allocate(64, MemoryKind::kHostVisible);
  const KernelCode code(Kernel::kScale, "msl");
  auto executable = *device->LoadExecutable(code.definition());
  auto list = *device->CreateCommandList();
  ASSERT_TRUE(list->Fill({buffer.get(), 0, 64}, 1).ok());
  auto fence = *device->Submit(*list);
  auto later = *device->Submit(*list);
  const Status lost = fence->Wait();
  EXPECT_EQ(lost.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(lost.message(),
            "metal device 'fake': the commands ended with "
            "MTLCommandBufferErrorDeviceRemoved: the fake's commands fail: the "
            "device is lost; a new one has to be made");
  EXPECT_TRUE(later->done());
  const BufferRange range = {buffer.get(), 0, 64};
  const BufferRange bindings[] = {range, range};
  const int64_t parameters[] = {1};
  const Status refusals[] = {
      fence->Wait(),
      later->Wait(),
      device->Submit(*list).status(),
      device->Allocate(64, MemoryKind::kDeviceLocal).status(),
      device->LoadExecutable(code.definition()).status(),
      device->CreateCommandList().status(),
      list->Dispatch(*executable,
                     {.bindings = bindings, .parameters = parameters})};
  for (const Status& status : refusals)
    EXPECT_EQ(status.ToString(), lost.ToString());
  list.reset();
  executable.reset();
  buffer.reset();
  fence.reset();
  later.reset();
  device.reset();
  device = *CreateDevice("metal", {});
  EXPECT_TRUE(device->Allocate(64, MemoryKind::kDeviceLocal).ok());
}

// Commands whose threads do not all reach a barrier end with an error, too.
TEST_F(ErrorsTest, CommandsMayFail) {
  auto device = *CreateDevice("metal", {});
  const std::string_view text = R"(#include <metal_stdlib>
using namespace metal;
kernel void halves(uint3 local_id [[thread_position_in_threadgroup]]) {
  if (local_id.x < 4) threadgroup_barrier(mem_flags::mem_threadgroup);
}
)";
  auto executable = *device->LoadExecutable(
      {.name = "halves",
       .format = "msl",
       .code = {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
       .entry_point = "halves",
       .workgroup = {8, 1, 1}});
  auto list = *device->CreateCommandList();
  ASSERT_TRUE(list->Dispatch(*executable, {}).ok());
  const Status status = (*device->Submit(*list))->Wait();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("MTLCommandBufferErrorInternal: kernel halves, block"));
}

// Uses every feature of a device once.
Status UseDevice(const DeviceOptions& options) {
  EMBER_ASSIGN_OR_RETURN(auto device, CreateDevice("metal", options));
  EMBER_ASSIGN_OR_RETURN(auto in,
                         device->Allocate(4096, MemoryKind::kHostVisible));
  EMBER_ASSIGN_OR_RETURN(auto out,
                         device->Allocate(4096, MemoryKind::kDeviceLocal));
  EMBER_ASSIGN_OR_RETURN(auto back,
                         device->Allocate(8192, MemoryKind::kHostVisible));
  const KernelCode code(Kernel::kScale, "msl");
  EMBER_ASSIGN_OR_RETURN(auto executable,
                         device->LoadExecutable(code.definition()));
  EMBER_ASSIGN_OR_RETURN(auto list, device->CreateCommandList());
  EMBER_RETURN_IF_ERROR(list->Fill({in.get(), 0, 2047}, 1));
  EMBER_RETURN_IF_ERROR(list->Fill({in.get(), 2048, 2048}, 1));
  EMBER_RETURN_IF_ERROR(list->Barrier());
  EMBER_RETURN_IF_ERROR(list->Copy({in.get(), 1, 1}, {in.get(), 2047, 1}));
  EMBER_RETURN_IF_ERROR(list->Barrier());
  const BufferRange bindings[] = {{in.get(), 0, 4096}, {out.get(), 0, 4096}};
  const int64_t parameters[] = {3};
  EMBER_RETURN_IF_ERROR(
      list->Dispatch(*executable, {.chunks = {1024, 1, 1},
                                   .bindings = bindings,
                                   .parameters = parameters}));
  EMBER_RETURN_IF_ERROR(list->Barrier());
  EMBER_RETURN_IF_ERROR(
      list->Copy({out.get(), 0, 4096}, {back.get(), 4096, 4096}));
  for (int run = 0; run < 2; ++run) {
    EMBER_ASSIGN_OR_RETURN(auto fence, device->Submit(*list));
    static_cast<void>(fence->done());
    EMBER_RETURN_IF_ERROR(fence->Wait());
    EMBER_ASSIGN_OR_RETURN(const double took, fence->DeviceMilliseconds());
    if (took <= 0) return InternalError("no time");
  }
  const auto* const bytes = static_cast<const uint8_t*>(back->host_data());
  for (int i = 4096; i < 8192; ++i) {
    if (bytes[i] != 3) return InternalError(Concat({"wrong byte ", i}));
  }
  return OkStatus();
}

std::vector<std::string> CallNames() {
  uint64_t bytes = 0;
  const char* at = EMBER_FAKE(EmberFakeCalls)(&bytes);
  std::vector<std::string> names;
  for (const char* const end = at + bytes; at < end;
       at += names.back().size() + 1)
    names.emplace_back(at);
  return names;
}

// A failing call must not crash, leak, or leave an encoder open.
TEST_F(ErrorsTest, AnyCallMayFail) {
  std::set<std::string> failed;
  const DeviceOptions options = {
      .threads = 1, .separate_memory = true, .timestamps = true};
  const Status works = UseDevice(options);
  ASSERT_TRUE(works.ok()) << works.ToString();
  const std::vector<std::string> names = CallNames();
  for (size_t call = 1; call <= names.size(); ++call) {
    const std::string& name = names[call - 1];
    SCOPED_TRACE(Concat({"call ", call, ", ", name}));
    SetFault("*", static_cast<int64_t>(call));
    const Status status = UseDevice(options);
    EXPECT_EQ(EMBER_FAKE(EmberFakeFaults)(), 1);
    EXPECT_EQ(EMBER_FAKE(EmberFakeObjects)(), 0);
    EXPECT_STREQ(EMBER_FAKE(EmberFakeMisuse)(), "");
    failed.insert(name);
    const StatusCode expected =
        name == "Devices"  ? StatusCode::kNotFound
        : name == "Commit" ? StatusCode::kFailedPrecondition
        : name == "NewLibrary" || name == "NewFunction" || name == "NewPipeline"
            ? StatusCode::kInvalidArgument
            : StatusCode::kResourceExhausted;
    EXPECT_EQ(status.code(), expected) << status.ToString();
    EXPECT_EQ(status.message().find('\n'), std::string_view::npos);
    EXPECT_THAT(std::string(status.message()), HasSubstr("etal"));
    if (HasFailure()) return;
  }
  std::printf("%zu calls of %zu functions\n", names.size(), failed.size());
  EXPECT_EQ(failed.size(), 11U);
  EXPECT_GT(names.size(), 20U);
}

}  // namespace
}  // namespace ember::hal::metal
