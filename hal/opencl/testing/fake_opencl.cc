#include "hal/opencl/testing/fake_opencl.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hal/opencl/api/functions.h"
#include "hal/opencl/api/result.h"
#include "hal/opencl/testing/fake_state.h"

#define EMBER_EXPORT extern "C" __attribute__((visibility("default")))

namespace ember::hal::opencl {

// --- objects

struct ContextOfCl {};
struct QueueOfCl {
  bool has_times = false;
};
struct EventOfCl {};
struct MemoryOfCl {
  // The object's contents in the memory of the fake device.
  std::vector<uint8_t> bytes;
  uint8_t* host = nullptr;  // of CL_MEM_USE_HOST_PTR
  bool is_mapped = false;
};
struct ProgramOfCl {
  std::string source;
  bool is_binary = false;
  bool is_built = false;
  std::string log;
};
struct KernelOfCl {
  std::string name;
  std::vector<std::vector<uint8_t>> arguments;
  // For each argument: its address if it is shared virtual memory, else null.
  std::vector<uint8_t*> shared;
};

namespace fake {
namespace {

constexpr std::string_view kBinaryBegin = "binary of driver ";

std::string DriverVersion() { return IsVariant("driver2") ? "2.0" : "1.0"; }

cl_int Answer(const void* value, size_t bytes, size_t size, void* result,
              size_t* actual) {
  if (actual != nullptr) *actual = bytes;
  if (result == nullptr) return kSuccess;
  if (size < bytes) return kInvalidValue;
  std::memcpy(result, value, bytes);
  return kSuccess;
}

cl_int AnswerText(std::string_view text, size_t size, void* result,
                  size_t* actual) {
  const std::string copy(text);
  return Answer(copy.c_str(), copy.size() + 1, size, result, actual);
}

template <typename Value>
cl_int AnswerValue(Value value, size_t size, void* result, size_t* actual) {
  return Answer(&value, sizeof value, size, result, actual);
}

// Makes an object for an OpenCL function. If `fault` is not success, makes none
// and returns null; `error` is set to `fault`.
template <typename Object>
Object* Make(cl_int fault, cl_int* error) {
  if (error != nullptr) *error = fault;
  return fault == kSuccess ? Born(new Object) : nullptr;
}

template <typename Object>
cl_int Release(Object* object, std::string_view function) {
  const cl_int fault = Begin(function);
  // The object is destroyed even if the call must fail, because the caller
  // could not release it any more and it would count as leaked.
  if (!Dies(object, function)) return kInvalidValue;
  delete object;
  return fault;
}

cl_int MakeEvent(cl_event* event) {
  if (event != nullptr) *event = Born(new EventOfCl);
  return kSuccess;
}

// True if a command may use this range of a memory object. Misuse, such as an
// object that is mapped, is noted.
bool IsUsable(cl_mem memory, size_t offset, size_t bytes,
              std::string_view function) {
  if (!IsLive(memory, function)) return false;
  if (memory->is_mapped) NoteMisuse(function, "memory that is mapped");
  if (offset + bytes <= memory->bytes.size()) return true;
  NoteMisuse(function, "bytes beyond the memory object");
  return false;
}

// Returns the address of a kernel's binding. Argument `number` is the binding's
// memory, the next argument its offset.
uint8_t* Binding(const KernelOfCl& kernel, size_t number) {
  cl_ulong offset = 0;
  std::memcpy(&offset, kernel.arguments[number + 1].data(), sizeof offset);
  if (kernel.shared[number] != nullptr) return kernel.shared[number] + offset;
  cl_mem memory = nullptr;
  std::memcpy(static_cast<void*>(&memory), kernel.arguments[number].data(),
              sizeof(cl_mem));
  if (!IsUsable(memory, offset, 0, "clEnqueueNDRangeKernel")) return nullptr;
  return memory->bytes.data() + offset;
}

// Runs the kernel "scale" of hal/conformance/kernels.h.
void Scale(const KernelOfCl& kernel, size_t count) {
  const uint8_t* const in = Binding(kernel, 0);
  uint8_t* const out = Binding(kernel, 2);
  int64_t factor = 0;
  std::memcpy(&factor, kernel.arguments[4].data(), sizeof factor);
  if (in == nullptr || out == nullptr) return;
  for (size_t i = 0; i < count; ++i) {
    uint32_t value = 0;
    std::memcpy(&value, in + 4 * i, sizeof value);
    value *= static_cast<uint32_t>(factor);
    std::memcpy(out + 4 * i, &value, sizeof value);
  }
}

}  // namespace
}  // namespace fake
}  // namespace ember::hal::opencl

using namespace ember::hal::opencl;        // NOLINT: the API has no namespace
using namespace ember::hal::opencl::fake;  // NOLINT

// --- functions for tests (fake_opencl.h)

EMBER_EXPORT void EmberFakeReset() {
  State& state = TheState();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  state.calls.clear();
  state.count_of.clear();
  state.call_count = state.faults = state.builds = 0;
  state.misuse.clear();
  state.is_read = false;
}
EMBER_EXPORT int64_t EmberFakeObjects() {
  return static_cast<int64_t>(TheState().live.size());
}
EMBER_EXPORT int64_t EmberFakeFaults() { return TheState().faults; }
EMBER_EXPORT const char* EmberFakeCalls(uint64_t* bytes) {
  *bytes = TheState().calls.size();
  return TheState().calls.data();
}
EMBER_EXPORT int64_t EmberFakeBuilds() { return TheState().builds; }
EMBER_EXPORT const char* EmberFakeMisuse() { return TheState().misuse.c_str(); }

// --- functions for platforms and devices

EMBER_EXPORT cl_int clGetPlatformIDs(cl_uint size, cl_platform_id* platforms,
                                     cl_uint* count) {
  if (TheState().live.empty()) TheState().is_read = false;
  if (const cl_int fault = Begin("clGetPlatformIDs")) return fault;
  if (IsVariant("no_platform")) return kPlatformNotFound;
  if (count != nullptr) *count = 1;
  if (size > 0) *platforms = reinterpret_cast<cl_platform_id>(&TheState());
  return kSuccess;
}

EMBER_EXPORT cl_int clGetPlatformInfo(cl_platform_id, cl_uint, size_t size,
                                      void* value, size_t* actual) {
  if (const cl_int fault = Begin("clGetPlatformInfo")) return fault;
  return AnswerText("OpenCL 3.0 Ember's fake", size, value, actual);
}

EMBER_EXPORT cl_int clGetDeviceIDs(cl_platform_id platform, cl_bitfield,
                                   cl_uint size, cl_device_id* devices,
                                   cl_uint* count) {
  if (const cl_int fault = Begin("clGetDeviceIDs")) return fault;
  if (IsVariant("no_device")) return kDeviceNotFound;
  if (count != nullptr) *count = 1;
  if (size > 0) *devices = reinterpret_cast<cl_device_id>(platform);
  return kSuccess;
}

EMBER_EXPORT cl_int clGetDeviceInfo(cl_device_id, cl_uint property, size_t size,
                                    void* value, size_t* actual) {
  if (const cl_int fault = Begin("clGetDeviceInfo")) return fault;
  const auto number = [&](auto n) {
    return AnswerValue(n, size, value, actual);
  };
  const auto text = [&](std::string_view t) {
    return AnswerText(t, size, value, actual);
  };
  switch (property) {
    case kDeviceName:
      return text("fake");
    case kDeviceVendor:
      return text("Ember");
    case kDriverVersion:
      return text(DriverVersion());
    case kDeviceVersion:
      return text(IsVariant("version1.1") ? "OpenCL 1.1 fake"
                                          : "OpenCL 3.0 fake");
    case kDeviceProfile:
      return text(IsVariant("embedded") ? "EMBEDDED_PROFILE" : "FULL_PROFILE");
    case kDeviceType:
      return number(kDeviceTypeGpu);
    case kDeviceMaxWorkGroupSize:
      return number(size_t{256});
    case kDeviceMaxWorkItemSizes:
      return number(std::array<size_t, 3>{256, 256, 64});
    case kDeviceMaxParameterSize:
      return number(size_t{1024});
    case kDeviceLocalMemSize:
      return number(cl_ulong{32768});
    case kDeviceGlobalMemSize:
      return number(cl_ulong{1} << 30);
    case kDeviceMaxMemAllocSize:
      return number(cl_ulong{1} << 28);
    case kDeviceSingleFpConfig:
      return number(kFpCorrectlyRoundedDivideSqrt);
    case kDeviceDoubleFpConfig:
      return number(cl_bitfield{1});
    case kDeviceCompilerAvailable:
      return number(cl_bool{IsVariant("no_compiler") ? 0U : 1U});
    case kDeviceEndianLittle:
    case kDeviceAvailable:
    case kDeviceHostUnifiedMemory:
      return number(cl_bool{1});
    case kDeviceSvmCapabilities:
      return number(kSvmFineGrainBuffer);
    default:
      return kInvalidValue;
  }
}

EMBER_EXPORT cl_context clCreateContext(const intptr_t*, cl_uint,
                                        const cl_device_id*, ContextCallback,
                                        void*, cl_int* error) {
  return Make<ContextOfCl>(Begin("clCreateContext"), error);
}
EMBER_EXPORT cl_int clReleaseContext(cl_context context) {
  return Release(context, "clReleaseContext");
}
EMBER_EXPORT cl_command_queue clCreateCommandQueue(cl_context context,
                                                   cl_device_id,
                                                   cl_bitfield properties,
                                                   cl_int* error) {
  const auto queue = Make<QueueOfCl>(Begin("clCreateCommandQueue"), error);
  IsLive(context, "clCreateCommandQueue");
  if (queue != nullptr) queue->has_times = (properties & kQueueProfiling) != 0;
  return queue;
}
EMBER_EXPORT cl_int clReleaseCommandQueue(cl_command_queue queue) {
  return Release(queue, "clReleaseCommandQueue");
}

// --- memory

EMBER_EXPORT cl_mem clCreateBuffer(cl_context context, cl_bitfield flags,
                                   size_t bytes, void* host, cl_int* error) {
  const auto memory = Make<MemoryOfCl>(Begin("clCreateBuffer"), error);
  IsLive(context, "clCreateBuffer");
  if (memory == nullptr) return nullptr;
  memory->bytes.assign(bytes, 0xcd);
  if ((flags & kMemUseHostPtr) != 0) {
    memory->host = static_cast<uint8_t*>(host);
    std::memcpy(memory->bytes.data(), host, bytes);
  }
  return memory;
}
EMBER_EXPORT cl_int clReleaseMemObject(cl_mem memory) {
  return Release(memory, "clReleaseMemObject");
}
EMBER_EXPORT void* clSVMAlloc(cl_context context, cl_bitfield, size_t bytes,
                              cl_uint alignment) {
  IsLive(context, "clSVMAlloc");
  if (Begin("clSVMAlloc") != kSuccess) return nullptr;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return Born(std::aligned_alloc(alignment, rounded));
}
EMBER_EXPORT void clSVMFree(cl_context context, void* memory) {
  IsLive(context, "clSVMFree");
  Begin("clSVMFree");
  if (Dies(memory, "clSVMFree")) std::free(memory);
}

// --- functions for programs and kernels

EMBER_EXPORT cl_program clCreateProgramWithSource(cl_context, cl_uint,
                                                  const char** texts,
                                                  const size_t* sizes,
                                                  cl_int* error) {
  const auto program =
      Make<ProgramOfCl>(Begin("clCreateProgramWithSource"), error);
  if (program != nullptr) program->source = std::string(texts[0], sizes[0]);
  return program;
}
EMBER_EXPORT cl_program clCreateProgramWithBinary(
    cl_context, cl_uint, const cl_device_id*, const size_t* sizes,
    const unsigned char** binaries, cl_int* taken, cl_int* error) {
  const auto program =
      Make<ProgramOfCl>(Begin("clCreateProgramWithBinary"), error);
  if (program == nullptr) return nullptr;
  const std::string begin = std::string(kBinaryBegin) + DriverVersion() + "\n";
  std::string text(reinterpret_cast<const char*>(binaries[0]), sizes[0]);
  *taken = text.starts_with(begin) ? kSuccess : kInvalidBinary;
  program->is_binary = true;
  program->source = text.substr(std::min(text.size(), begin.size()));
  return program;
}
EMBER_EXPORT cl_int clBuildProgram(cl_program program, cl_uint,
                                   const cl_device_id*, const char*,
                                   ProgramCallback, void*) {
  if (const cl_int fault = Begin("clBuildProgram")) return fault;
  if (!IsLive(program, "clBuildProgram")) return kInvalidValue;
  if (!program->is_binary) ++TheState().builds;
  program->is_built = program->source.find("kernel void") != std::string::npos;
  if (program->is_built) return kSuccess;
  program->log = "warning: a first line\nline 1: error: no kernel in it\n";
  return kBuildProgramFailure;
}
EMBER_EXPORT cl_int clGetProgramInfo(cl_program program, cl_uint property,
                                     size_t size, void* value, size_t* actual) {
  if (const cl_int fault = Begin("clGetProgramInfo")) return fault;
  const std::string binary =
      std::string(kBinaryBegin) + DriverVersion() + "\n" + program->source;
  if (property == kProgramBinarySizes)
    return AnswerValue(binary.size(), size, value, actual);
  std::memcpy(*static_cast<char**>(value), binary.data(), binary.size());
  return kSuccess;
}
EMBER_EXPORT cl_int clGetProgramBuildInfo(cl_program program, cl_device_id,
                                          cl_uint, size_t size, void* value,
                                          size_t* actual) {
  if (const cl_int fault = Begin("clGetProgramBuildInfo")) return fault;
  return AnswerText(program->log, size, value, actual);
}
EMBER_EXPORT cl_int clReleaseProgram(cl_program program) {
  return Release(program, "clReleaseProgram");
}
EMBER_EXPORT cl_kernel clCreateKernel(cl_program program, const char* name,
                                      cl_int* error) {
  cl_int fault = Begin("clCreateKernel");
  if (fault == kSuccess && program->source.find(std::string("void ") + name +
                                                "(") == std::string::npos)
    fault = kInvalidKernelName;
  const auto kernel = Make<KernelOfCl>(fault, error);
  if (kernel == nullptr) return nullptr;
  kernel->name = name;
  kernel->arguments.resize(kernel->name == "scale" ? 5 : 0);
  kernel->shared.resize(kernel->arguments.size());
  return kernel;
}
EMBER_EXPORT cl_int clReleaseKernel(cl_kernel kernel) {
  return Release(kernel, "clReleaseKernel");
}
EMBER_EXPORT cl_int clSetKernelArg(cl_kernel kernel, cl_uint number,
                                   size_t size, const void* value) {
  if (const cl_int fault = Begin("clSetKernelArg")) return fault;
  const auto* const bytes = static_cast<const uint8_t*>(value);
  kernel->arguments.at(number).assign(bytes, bytes + size);
  return kSuccess;
}
EMBER_EXPORT cl_int clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint number,
                                             const void* address) {
  if (const cl_int fault = Begin("clSetKernelArgSVMPointer")) return fault;
  IsLive(address, "clSetKernelArgSVMPointer");
  kernel->shared.at(number) = static_cast<uint8_t*>(const_cast<void*>(address));
  return kSuccess;
}
EMBER_EXPORT cl_int clGetKernelInfo(cl_kernel kernel, cl_uint, size_t size,
                                    void* value, size_t* actual) {
  if (const cl_int fault = Begin("clGetKernelInfo")) return fault;
  return AnswerValue(static_cast<cl_uint>(kernel->arguments.size()), size,
                     value, actual);
}
EMBER_EXPORT cl_int clGetKernelWorkGroupInfo(cl_kernel, cl_device_id,
                                             cl_uint property, size_t size,
                                             void* value, size_t* actual) {
  if (const cl_int fault = Begin("clGetKernelWorkGroupInfo")) return fault;
  return property == kKernelWorkGroupSize
             ? AnswerValue(size_t{128}, size, value, actual)
             : AnswerValue(cl_ulong{0}, size, value, actual);
}

// --- functions for commands, which run at once

EMBER_EXPORT cl_int clEnqueueNDRangeKernel(cl_command_queue, cl_kernel kernel,
                                           cl_uint, const size_t*,
                                           const size_t* sizes, const size_t*,
                                           cl_uint, const cl_event*,
                                           cl_event* event) {
  if (const cl_int fault = Begin("clEnqueueNDRangeKernel")) return fault;
  if (!IsLive(kernel, "clEnqueueNDRangeKernel")) return kInvalidValue;
  if (kernel->name == "scale") Scale(*kernel, sizes[0] * sizes[1] * sizes[2]);
  return MakeEvent(event);
}
EMBER_EXPORT cl_int clEnqueueCopyBuffer(cl_command_queue, cl_mem source,
                                        cl_mem target, size_t from, size_t to,
                                        size_t bytes, cl_uint, const cl_event*,
                                        cl_event* event) {
  constexpr char kName[] = "clEnqueueCopyBuffer";
  if (const cl_int fault = Begin(kName)) return fault;
  if (!IsUsable(source, from, bytes, kName) ||
      !IsUsable(target, to, bytes, kName))
    return kInvalidValue;
  std::memmove(&target->bytes[to], &source->bytes[from], bytes);
  return MakeEvent(event);
}
EMBER_EXPORT cl_int clEnqueueFillBuffer(cl_command_queue, cl_mem memory,
                                        const void* pattern, size_t,
                                        size_t offset, size_t bytes, cl_uint,
                                        const cl_event*, cl_event* event) {
  constexpr char kName[] = "clEnqueueFillBuffer";
  if (const cl_int fault = Begin(kName)) return fault;
  if (!IsUsable(memory, offset, bytes, kName)) return kInvalidValue;
  std::memset(&memory->bytes[offset], *static_cast<const uint8_t*>(pattern),
              bytes);
  return MakeEvent(event);
}
EMBER_EXPORT cl_int clEnqueueReadBuffer(cl_command_queue, cl_mem memory,
                                        cl_bool, size_t offset, size_t bytes,
                                        void* host, cl_uint, const cl_event*,
                                        cl_event* event) {
  constexpr char kName[] = "clEnqueueReadBuffer";
  if (const cl_int fault = Begin(kName)) return fault;
  if (!IsUsable(memory, offset, bytes, kName)) return kInvalidValue;
  std::memcpy(host, &memory->bytes[offset], bytes);
  return MakeEvent(event);
}
EMBER_EXPORT cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem memory,
                                         cl_bool, size_t offset, size_t bytes,
                                         const void* host, cl_uint,
                                         const cl_event*, cl_event* event) {
  constexpr char kName[] = "clEnqueueWriteBuffer";
  if (const cl_int fault = Begin(kName)) return fault;
  if (!IsUsable(memory, offset, bytes, kName)) return kInvalidValue;
  std::memcpy(&memory->bytes[offset], host, bytes);
  return MakeEvent(event);
}
EMBER_EXPORT void* clEnqueueMapBuffer(cl_command_queue, cl_mem memory, cl_bool,
                                      cl_bitfield, size_t, size_t, cl_uint,
                                      const cl_event*, cl_event* event,
                                      cl_int* error) {
  constexpr char kName[] = "clEnqueueMapBuffer";
  *error = Begin(kName);
  if (*error != kSuccess || !IsLive(memory, kName)) return nullptr;
  if (memory->is_mapped) NoteMisuse(kName, "memory that is mapped");
  memory->is_mapped = true;
  std::memcpy(memory->host, memory->bytes.data(), memory->bytes.size());
  MakeEvent(event);
  return memory->host;
}
EMBER_EXPORT cl_int clEnqueueUnmapMemObject(cl_command_queue, cl_mem memory,
                                            void*, cl_uint, const cl_event*,
                                            cl_event* event) {
  constexpr char kName[] = "clEnqueueUnmapMemObject";
  if (const cl_int fault = Begin(kName)) return fault;
  if (!IsLive(memory, kName)) return kInvalidValue;
  if (!memory->is_mapped) NoteMisuse(kName, "memory that is not mapped");
  memory->is_mapped = false;
  std::memcpy(memory->bytes.data(), memory->host, memory->bytes.size());
  return MakeEvent(event);
}
EMBER_EXPORT cl_int clEnqueueSVMMemcpy(cl_command_queue, cl_bool, void* target,
                                       const void* source, size_t bytes,
                                       cl_uint, const cl_event*,
                                       cl_event* event) {
  if (const cl_int fault = Begin("clEnqueueSVMMemcpy")) return fault;
  std::memmove(target, source, bytes);
  return MakeEvent(event);
}
EMBER_EXPORT cl_int clEnqueueSVMMemFill(cl_command_queue, void* target,
                                        const void* pattern, size_t,
                                        size_t bytes, cl_uint, const cl_event*,
                                        cl_event* event) {
  if (const cl_int fault = Begin("clEnqueueSVMMemFill")) return fault;
  std::memset(target, *static_cast<const uint8_t*>(pattern), bytes);
  return MakeEvent(event);
}
EMBER_EXPORT cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint,
                                                const cl_event*,
                                                cl_event* event) {
  constexpr char kName[] = "clEnqueueMarkerWithWaitList";
  if (const cl_int fault = Begin(kName)) return fault;
  if (!IsLive(queue, kName)) return kInvalidCommandQueue;
  return MakeEvent(event);
}
EMBER_EXPORT cl_int clWaitForEvents(cl_uint, const cl_event* events) {
  if (const cl_int fault = Begin("clWaitForEvents")) return fault;
  return IsLive(events[0], "clWaitForEvents") ? kSuccess : kInvalidValue;
}
EMBER_EXPORT cl_int clGetEventInfo(cl_event event, cl_uint, size_t size,
                                   void* value, size_t* actual) {
  if (const cl_int fault = Begin("clGetEventInfo")) return fault;
  IsLive(event, "clGetEventInfo");
  return AnswerValue(kComplete, size, value, actual);
}
EMBER_EXPORT cl_int clGetEventProfilingInfo(cl_event event, cl_uint,
                                            size_t size, void* value,
                                            size_t* actual) {
  if (const cl_int fault = Begin("clGetEventProfilingInfo")) return fault;
  IsLive(event, "clGetEventProfilingInfo");
  static cl_ulong now = 0;
  return AnswerValue(++now, size, value, actual);
}
EMBER_EXPORT cl_int clReleaseEvent(cl_event event) {
  return Release(event, "clReleaseEvent");
}
EMBER_EXPORT cl_int clFlush(cl_command_queue) { return Begin("clFlush"); }
EMBER_EXPORT cl_int clFinish(cl_command_queue) { return Begin("clFinish"); }
