// Tests errors with an external cause: no loader, no driver, an old device, no
// memory, a lost device. Each call of an OpenCL function is made to fail, with
// two errors. The tests run on the fake library, so every machine runs them.
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
#include "hal/opencl/api/result.h"
#include "hal/opencl/testing/fake_opencl.h"
#include "hal/registry/drivers.h"

namespace ember::hal::opencl {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kFake[] = "hal/opencl/testing/libfake_opencl.so";

template <typename Function>
Function* Fake(const char* name) {
  static void* const library = ::dlopen(kFake, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(::dlsym(library, name));
}
#define EMBER_FAKE(name) (*Fake<decltype(name)>(#name))

class ErrorsTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("EMBER_OPENCL_LIBRARY", kFake, 1);
    EMBER_FAKE(EmberFakeReset)();
  }
  void TearDown() override {
    EXPECT_STREQ(EMBER_FAKE(EmberFakeMisuse)(), "");
    EXPECT_EQ(EMBER_FAKE(EmberFakeObjects)(), 0);
    for (const char* name : {"EMBER_OPENCL_LIBRARY", "EMBER_OPENCL_FAULT",
                             "EMBER_OPENCL_FAKE", "EMBER_OPENCL_WITHOUT_SVM"})
      ::unsetenv(name);
  }

  static void SetFault(std::string_view function, int64_t call, cl_int result) {
    ::setenv("EMBER_OPENCL_FAULT",
             Concat({function, ":", call, ":", int64_t{result}}).c_str(), 1);
    EMBER_FAKE(EmberFakeReset)();
  }
  static Status WithVariant(const char* variant) {
    ::setenv("EMBER_OPENCL_FAKE", variant, 1);
    return CreateDevice("opencl", {.threads = 1}).status();
  }
};

TEST_F(ErrorsTest, NoLoader) {
  ::setenv("EMBER_OPENCL_LIBRARY", "libno_opencl_here.so.1", 1);
  const Status status = CreateDevice("opencl", {}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("device 'opencl': OpenCL's loader, "
                         "libno_opencl_here.so.1, cannot be opened ("));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("EMBER_OPENCL_LIBRARY names it"));
}

TEST_F(ErrorsTest, NotTheLoader) {
  ::setenv("EMBER_OPENCL_LIBRARY", "libm.so.6", 1);
  const Status status = CreateDevice("opencl", {}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(),
            "device 'opencl': OpenCL's loader, libm.so.6: expected the "
            "function clGetPlatformIDs of OpenCL 1.2 in it, found none; a "
            "newer one has it");
}

TEST_F(ErrorsTest, NoDriverOrDevice) {
  const Status platform = WithVariant("no_platform");
  EXPECT_EQ(platform.code(), StatusCode::kNotFound);
  EXPECT_EQ(platform.message(),
            "device 'opencl': OpenCL: expected a platform, found none; install "
            "a driver (an ICD), such as pocl-opencl-icd of Debian for CPUs");
  const Status device = WithVariant("no_device");
  EXPECT_EQ(device.code(), StatusCode::kNotFound);
  EXPECT_EQ(device.message(),
            "device 'opencl': OpenCL: expected a device, found none");
}

TEST_F(ErrorsTest, DeviceThatCannotBeUsed) {
  const struct {
    const char* variant;
    const char* message;
  } kCases[] = {
      {"version1.1",
       "device 'opencl': OpenCL: device 'fake': expected version 1.2 or newer, "
       "found 'OpenCL 1.1 fake'; a newer driver may have it"},
      {"embedded",
       "device 'opencl': OpenCL: device 'fake': expected the profile "
       "FULL_PROFILE, found EMBEDDED_PROFILE"},
      {"no_compiler",
       "device 'opencl': OpenCL: device 'fake': expected a compiler of OpenCL "
       "C, found none"},
  };
  for (const auto& row : kCases) {
    const Status status = WithVariant(row.variant);
    EXPECT_EQ(status.code(), StatusCode::kNotFound);
    EXPECT_EQ(status.message(), row.message);
  }
  ::unsetenv("EMBER_OPENCL_FAKE");
  const Status other = CreateDevice("opencl:7", {}).status();
  EXPECT_EQ(other.code(), StatusCode::kNotFound);
  EXPECT_EQ(other.message(),
            "device 'opencl:7': expected a device below 1, found 7");
}

TEST_F(ErrorsTest, NoMemory) {
  for (const char* without : {"", "1"}) {
    ::setenv("EMBER_OPENCL_WITHOUT_SVM", without, 1);
    ::unsetenv("EMBER_OPENCL_FAULT");
    EMBER_FAKE(EmberFakeReset)();
    auto device = *CreateDevice("opencl", {.separate_memory = true});
    for (MemoryKind kind :
         {MemoryKind::kDeviceLocal, MemoryKind::kHostVisible}) {
      for (const int64_t bytes : {int64_t{1} << 40, INT64_MAX}) {
        const Status status = device->Allocate(bytes, kind).status();
        EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
        EXPECT_EQ(
            status.message(),
            Concat({"buffer: expected at most 268435456 bytes, the most of one "
                    "buffer on opencl device 'fake', found a request for ",
                    bytes}));
      }
    }
    EXPECT_EQ(device->memory_statistics().live_bytes, 0);
    device.reset();
    const bool is_svm = *without == '\0';
    SetFault(is_svm ? "clSVMAlloc" : "clCreateBuffer", 1, kOutOfHostMemory);
    device = *CreateDevice("opencl", {.separate_memory = true});
    const Status status =
        device->Allocate(1000, MemoryKind::kHostVisible).status();
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
    EXPECT_EQ(status.message(),
              is_svm ? "buffer: a request for 1000 bytes: opencl device "
                       "'fake': clSVMAlloc gave CL_OUT_OF_RESOURCES"
                     : "buffer: a request for 1000 bytes: opencl device "
                       "'fake': clCreateBuffer gave CL_OUT_OF_HOST_MEMORY");
    EXPECT_EQ(device->memory_statistics().live_bytes, 0);
    EXPECT_TRUE(device->Allocate(1000, MemoryKind::kHostVisible).ok());
  }
}

TEST_F(ErrorsTest, CodeThatIsNone) {
  auto device = *CreateDevice("opencl", {});
  const KernelCode code(Kernel::kScale, "opencl-c");
  const auto refusal = [&](const ExecutableDefinition& definition) {
    return device->LoadExecutable(definition).status();
  };
  ExecutableDefinition definition = code.definition();
  definition.entry_point = "another";
  EXPECT_EQ(refusal(definition).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(definition).message(),
            "executable 'scale': entry point 'another': opencl device 'fake': "
            "clCreateKernel gave CL_INVALID_KERNEL_NAME");
  definition = code.definition();
  const std::vector<uint8_t> text = {'i', 'n', 't', ' ', 'x', ';'};
  definition.code = text;
  EXPECT_EQ(refusal(definition).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(definition).message(),
            "executable 'scale': opencl device 'fake': clBuildProgram gave "
            "CL_BUILD_PROGRAM_FAILURE: line 1: error: no kernel in it");
  definition = code.definition();
  definition.parameter_count = 2;
  EXPECT_EQ(refusal(definition).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(definition).message(),
            "executable 'scale': entry point 'scale': expected 6 arguments, "
            "for 2 bindings and 2 parameters, found 5");
  definition = code.definition();
  definition.workgroup = {64, 8, 1};
  EXPECT_EQ(refusal(definition).code(), StatusCode::kResourceExhausted);
  definition.workgroup = {512, 1, 1};
  EXPECT_EQ(refusal(definition).code(), StatusCode::kResourceExhausted);
  // The fake device allows 256 invocations in a workgroup, but only 128 for
  // this kernel.
  definition.workgroup = {256, 1, 1};
  EXPECT_EQ(refusal(definition).message(),
            "executable 'scale': entry point 'scale': expected at most 128 "
            "invocations in a workgroup of this code, found 256");
  definition = code.definition();
  definition.binding_count = 40;
  definition.parameter_count = 60;
  EXPECT_EQ(refusal(definition).message(),
            "executable 'scale': expected at most 1024 bytes of arguments, "
            "found 1120 of 40 bindings and 60 parameters");
}

TEST_F(ErrorsTest, DeviceIsLost) {
  SetFault("clWaitForEvents", 1, kErrorOfEvents);
  auto device = *CreateDevice("opencl", {});
  auto buffer = *device->Allocate(64, MemoryKind::kHostVisible);
  const KernelCode code(Kernel::kScale, "opencl-c");
  auto executable = *device->LoadExecutable(code.definition());
  auto list = *device->CreateCommandList();
  ASSERT_TRUE(list->Fill({buffer.get(), 0, 64}, 1).ok());
  auto fence = *device->Submit(*list);
  const Status lost = fence->Wait();
  EXPECT_EQ(lost.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(lost.message(),
            "opencl device 'fake': clWaitForEvents gave "
            "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST: the device is lost; "
            "a new one has to be made");
  EXPECT_TRUE(fence->done());
  for (const Status& status :
       {device->Allocate(64, MemoryKind::kHostVisible).status(),
        device->LoadExecutable(code.definition()).status(),
        device->CreateCommandList().status(), device->Submit(*list).status(),
        fence->Wait()}) {
    EXPECT_EQ(status.message(), lost.message());
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  }
  list.reset();
  fence.reset();
  executable.reset();
  buffer.reset();
  device.reset();
  device = *CreateDevice("opencl", {});
  EXPECT_TRUE(device->Allocate(64, MemoryKind::kDeviceLocal).ok());
}

// Uses every feature of a device once, so that each OpenCL function that the
// driver calls is called and can be made to fail.
Status UseDevice(const DeviceOptions& options) {
  EMBER_ASSIGN_OR_RETURN(auto device, CreateDevice("opencl", options));
  EMBER_ASSIGN_OR_RETURN(auto in,
                         device->Allocate(4096, MemoryKind::kHostVisible));
  EMBER_ASSIGN_OR_RETURN(auto out,
                         device->Allocate(4096, MemoryKind::kDeviceLocal));
  EMBER_ASSIGN_OR_RETURN(auto back,
                         device->Allocate(8192, MemoryKind::kHostVisible));
  const KernelCode code(Kernel::kScale, "opencl-c");
  EMBER_ASSIGN_OR_RETURN(auto executable,
                         device->LoadExecutable(code.definition()));
  EMBER_ASSIGN_OR_RETURN(auto list, device->CreateCommandList());
  EMBER_RETURN_IF_ERROR(list->Fill({in.get(), 0, 2048}, 1));
  EMBER_RETURN_IF_ERROR(
      list->Copy({in.get(), 0, 2048}, {in.get(), 2048, 2048}));
  EMBER_RETURN_IF_ERROR(list->Fill({out.get(), 0, 4096}, 2));
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
  EMBER_RETURN_IF_ERROR(
      list->Copy({back.get(), 4096, 64}, {out.get(), 64, 64}));
  for (int run = 0; run < 2; ++run) {
    EMBER_ASSIGN_OR_RETURN(auto fence, device->Submit(*list));
    static_cast<void>(fence->done());
    EMBER_RETURN_IF_ERROR(fence->Wait());
    EMBER_ASSIGN_OR_RETURN(const double took, fence->DeviceMilliseconds());
    if (took < 0) return InternalError("negative time");
  }
  const auto* const bytes = static_cast<const uint8_t*>(back->host_data());
  return bytes[4096 + 5] == 3 ? OkStatus() : InternalError("wrong bytes");
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

// True for functions whose failure the driver may tolerate: functions that
// release or unmap objects, queries of what a device may lack or of the state
// of commands, clFinish, and those of the cache of binaries, without which
// programs are built from their source.
bool IsOptional(const std::string& name) {
  static const std::set<std::string> names = {
      "clBuildProgram",          "clCreateProgramWithBinary",
      "clEnqueueUnmapMemObject", "clFinish",
      "clGetDeviceInfo",         "clGetEventInfo",
      "clGetProgramInfo",        "clReleaseCommandQueue",
      "clReleaseContext",        "clReleaseEvent",
      "clReleaseKernel",         "clReleaseMemObject",
      "clReleaseProgram",        "clSVMFree"};
  return names.contains(name);
}

// A failing call must not crash or leak, and the error must name the call.
TEST_F(ErrorsTest, AnyCallMayFail) {
  std::set<std::string> failed;
  int64_t calls = 0, unwound = 0;
  for (const char* without : {"", "1"}) {
    ::setenv("EMBER_OPENCL_WITHOUT_SVM", without, 1);
    const DeviceOptions options = {.threads = 1,
                                   .cache_folder = testing::TempDir() + "cache",
                                   .separate_memory = true,
                                   .timestamps = true};
    ::unsetenv("EMBER_OPENCL_FAULT");
    // The first use stores the built program in the cache, so the counted
    // second use reads it from there.
    ASSERT_TRUE(UseDevice(options).ok());
    EMBER_FAKE(EmberFakeReset)();
    const Status works = UseDevice(options);
    ASSERT_TRUE(works.ok()) << works.ToString();
    const std::vector<std::string> names = CallNames();
    calls += static_cast<int64_t>(names.size());
    for (size_t call = 1; call <= names.size(); ++call) {
      const std::string& name = names[call - 1];
      for (cl_int result : {kOutOfHostMemory, kDeviceNotAvailable}) {
        SCOPED_TRACE(
            Concat({"call ", call, ", ", name, ", gives ", int64_t{result}}));
        SetFault("*", static_cast<int64_t>(call), result);
        const Status status = UseDevice(options);
        EXPECT_EQ(EMBER_FAKE(EmberFakeFaults)(), 1);
        EXPECT_EQ(EMBER_FAKE(EmberFakeObjects)(), 0);
        EXPECT_STREQ(EMBER_FAKE(EmberFakeMisuse)(), "");
        failed.insert(name);
        if (status.ok()) {
          EXPECT_TRUE(IsOptional(name));
        } else {
          ++unwound;
          const bool is_wait = name == "clWaitForEvents";
          EXPECT_EQ(status.code(), result == kOutOfHostMemory && !is_wait
                                       ? StatusCode::kResourceExhausted
                                   : name == "clSVMAlloc"
                                       ? StatusCode::kResourceExhausted
                                       : StatusCode::kFailedPrecondition)
              << status.ToString();
          EXPECT_THAT(std::string(status.message()),
                      HasSubstr(name.substr(0, 13)));
        }
        if (HasFailure()) return;
      }
    }
  }
  std::printf("%lld calls of %zu functions\n", static_cast<long long>(calls),
              failed.size());
  EXPECT_GT(failed.size(), 30U);
  EXPECT_GT(unwound, 100);
}

}  // namespace
}  // namespace ember::hal::opencl
