// The part of OpenCL's API that Ember's OpenCL driver uses: types, constants
// and functions, one line each. They are declared here as in the public
// specification, because a machine that builds Ember need not have OpenCL's
// headers. functions_test compares them with CL/cl.h if that is installed.
//
//   EMBER_ASSIGN_OR_RETURN(const auto library, OpenLibrary());
//   library->cl.Finish(queue);   // clFinish
//
// Values. Source: The OpenCL Specification, version 3.0.
#ifndef EMBER_HAL_OPENCL_API_FUNCTIONS_H_
#define EMBER_HAL_OPENCL_API_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>

namespace ember::hal::opencl {

// The result of an OpenCL call: 0 is success. hal/opencl/api/result.h has names
// and meanings of the other values.
using cl_int = int32_t;
using cl_uint = uint32_t;
using cl_ulong = uint64_t;
using cl_bool = cl_uint;
using cl_bitfield = cl_ulong;
using cl_platform_id = struct PlatformOfCl*;
using cl_device_id = struct DeviceOfCl*;
using cl_context = struct ContextOfCl*;
using cl_command_queue = struct QueueOfCl*;
using cl_mem = struct MemoryOfCl*;
using cl_program = struct ProgramOfCl*;
using cl_kernel = struct KernelOfCl*;
using cl_event = struct EventOfCl*;
// Types of the callbacks that clCreateContext and clBuildProgram take. The
// driver always passes null.
using ContextCallback = void (*)(const char*, const void*, size_t, void*);
using ProgramCallback = void (*)(cl_program, void*);

inline constexpr cl_uint kPlatformVersion = 0x0901;

inline constexpr cl_bitfield kDeviceTypeCpu = 1 << 1;
inline constexpr cl_bitfield kDeviceTypeGpu = 1 << 2;
inline constexpr cl_bitfield kDeviceTypeAll = 0xffffffff;

inline constexpr cl_uint kDeviceType = 0x1000;
inline constexpr cl_uint kDeviceMaxWorkGroupSize = 0x1004;
inline constexpr cl_uint kDeviceMaxWorkItemSizes = 0x1005;
inline constexpr cl_uint kDevicePreferredVectorWidthFloat = 0x100a;
inline constexpr cl_uint kDeviceMaxMemAllocSize = 0x1010;
inline constexpr cl_uint kDeviceMaxParameterSize = 0x1017;
inline constexpr cl_uint kDeviceSingleFpConfig = 0x101b;
inline constexpr cl_uint kDeviceGlobalMemSize = 0x101f;
inline constexpr cl_uint kDeviceLocalMemSize = 0x1023;
inline constexpr cl_uint kDeviceEndianLittle = 0x1026;
inline constexpr cl_uint kDeviceAvailable = 0x1027;
inline constexpr cl_uint kDeviceCompilerAvailable = 0x1028;
inline constexpr cl_uint kDeviceName = 0x102b;
inline constexpr cl_uint kDeviceVendor = 0x102c;
inline constexpr cl_uint kDriverVersion = 0x102d;
inline constexpr cl_uint kDeviceProfile = 0x102e;
inline constexpr cl_uint kDeviceVersion = 0x102f;
inline constexpr cl_uint kDeviceDoubleFpConfig = 0x1032;
inline constexpr cl_uint kDeviceHostUnifiedMemory = 0x1035;
inline constexpr cl_uint kDeviceSvmCapabilities = 0x1053;
// The device's preferred multiple of the workgroup size, which counts as its
// subgroup size. It exists since OpenCL 3.0; older devices return an error for
// it.
inline constexpr cl_uint kDevicePreferredWorkGroupSizeMultiple = 0x1067;

inline constexpr cl_bitfield kFpCorrectlyRoundedDivideSqrt = 1 << 7;
inline constexpr cl_bitfield kSvmFineGrainBuffer = 1 << 1;

inline constexpr cl_bitfield kQueueProfiling = 1 << 1;
inline constexpr cl_bitfield kMemReadWrite = 1 << 0;
inline constexpr cl_bitfield kMemUseHostPtr = 1 << 3;
inline constexpr cl_bitfield kMemSvmFineGrainBuffer = 1 << 10;
inline constexpr cl_bitfield kMapRead = 1 << 0;
inline constexpr cl_bitfield kMapWrite = 1 << 1;

inline constexpr cl_uint kProgramBinarySizes = 0x1165;
inline constexpr cl_uint kProgramBinaries = 0x1166;
inline constexpr cl_uint kProgramBuildLog = 0x1183;
inline constexpr cl_uint kKernelNumArgs = 0x1191;
inline constexpr cl_uint kKernelWorkGroupSize = 0x11b0;
inline constexpr cl_uint kKernelLocalMemSize = 0x11b2;
inline constexpr cl_uint kEventExecutionStatus = 0x11d3;
inline constexpr cl_uint kProfilingCommandEnd = 0x1283;
// Execution status (kEventExecutionStatus) of a command that is complete. A
// negative status is the error with which the command ended; positive ones mean
// that it has not ended.
inline constexpr cl_int kComplete = 0;

// Table of OpenCL's functions. Columns: F(name in this code; with "cl" in front
// it is the symbol's, type of the result, parameters). The symbols are those of
// OpenCL 1.2, which later versions keep.
#define EMBER_OPENCL_FUNCTIONS(F)                                             \
  F(GetPlatformIDs, cl_int, (cl_uint, cl_platform_id*, cl_uint*))             \
  F(GetPlatformInfo, cl_int,                                                  \
    (cl_platform_id, cl_uint, size_t, void*, size_t*))                        \
  F(GetDeviceIDs, cl_int,                                                     \
    (cl_platform_id, cl_bitfield, cl_uint, cl_device_id*, cl_uint*))          \
  F(GetDeviceInfo, cl_int, (cl_device_id, cl_uint, size_t, void*, size_t*))   \
  F(CreateContext, cl_context,                                                \
    (const intptr_t*, cl_uint, const cl_device_id*, ContextCallback, void*,   \
     cl_int*))                                                                \
  F(ReleaseContext, cl_int, (cl_context))                                     \
  F(CreateCommandQueue, cl_command_queue,                                     \
    (cl_context, cl_device_id, cl_bitfield, cl_int*))                         \
  F(ReleaseCommandQueue, cl_int, (cl_command_queue))                          \
  F(CreateBuffer, cl_mem, (cl_context, cl_bitfield, size_t, void*, cl_int*))  \
  F(ReleaseMemObject, cl_int, (cl_mem))                                       \
  F(CreateProgramWithSource, cl_program,                                      \
    (cl_context, cl_uint, const char**, const size_t*, cl_int*))              \
  F(CreateProgramWithBinary, cl_program,                                      \
    (cl_context, cl_uint, const cl_device_id*, const size_t*,                 \
     const unsigned char**, cl_int*, cl_int*))                                \
  F(BuildProgram, cl_int,                                                     \
    (cl_program, cl_uint, const cl_device_id*, const char*, ProgramCallback,  \
     void*))                                                                  \
  F(GetProgramInfo, cl_int, (cl_program, cl_uint, size_t, void*, size_t*))    \
  F(GetProgramBuildInfo, cl_int,                                              \
    (cl_program, cl_device_id, cl_uint, size_t, void*, size_t*))              \
  F(ReleaseProgram, cl_int, (cl_program))                                     \
  F(CreateKernel, cl_kernel, (cl_program, const char*, cl_int*))              \
  F(ReleaseKernel, cl_int, (cl_kernel))                                       \
  F(SetKernelArg, cl_int, (cl_kernel, cl_uint, size_t, const void*))          \
  F(GetKernelInfo, cl_int, (cl_kernel, cl_uint, size_t, void*, size_t*))      \
  F(GetKernelWorkGroupInfo, cl_int,                                           \
    (cl_kernel, cl_device_id, cl_uint, size_t, void*, size_t*))               \
  F(EnqueueNDRangeKernel, cl_int,                                             \
    (cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*,      \
     const size_t*, cl_uint, const cl_event*, cl_event*))                     \
  F(EnqueueCopyBuffer, cl_int,                                                \
    (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint,       \
     const cl_event*, cl_event*))                                             \
  F(EnqueueFillBuffer, cl_int,                                                \
    (cl_command_queue, cl_mem, const void*, size_t, size_t, size_t, cl_uint,  \
     const cl_event*, cl_event*))                                             \
  F(EnqueueReadBuffer, cl_int,                                                \
    (cl_command_queue, cl_mem, cl_bool, size_t, size_t, void*, cl_uint,       \
     const cl_event*, cl_event*))                                             \
  F(EnqueueWriteBuffer, cl_int,                                               \
    (cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void*, cl_uint, \
     const cl_event*, cl_event*))                                             \
  F(EnqueueMapBuffer, void*,                                                  \
    (cl_command_queue, cl_mem, cl_bool, cl_bitfield, size_t, size_t, cl_uint, \
     const cl_event*, cl_event*, cl_int*))                                    \
  F(EnqueueUnmapMemObject, cl_int,                                            \
    (cl_command_queue, cl_mem, void*, cl_uint, const cl_event*, cl_event*))   \
  F(EnqueueMarkerWithWaitList, cl_int,                                        \
    (cl_command_queue, cl_uint, const cl_event*, cl_event*))                  \
  F(WaitForEvents, cl_int, (cl_uint, const cl_event*))                        \
  F(GetEventInfo, cl_int, (cl_event, cl_uint, size_t, void*, size_t*))        \
  F(GetEventProfilingInfo, cl_int,                                            \
    (cl_event, cl_uint, size_t, void*, size_t*))                              \
  F(ReleaseEvent, cl_int, (cl_event))                                         \
  F(Flush, cl_int, (cl_command_queue))                                        \
  F(Finish, cl_int, (cl_command_queue))

// Table of functions that only OpenCL 2.0 and later have. Their pointers are
// null if the library lacks them.
#define EMBER_OPENCL_OPTIONAL_FUNCTIONS(F)                             \
  F(SVMAlloc, void*, (cl_context, cl_bitfield, size_t, cl_uint))       \
  F(SVMFree, void, (cl_context, void*))                                \
  F(SetKernelArgSVMPointer, cl_int, (cl_kernel, cl_uint, const void*)) \
  F(EnqueueSVMMemcpy, cl_int,                                          \
    (cl_command_queue, cl_bool, void*, const void*, size_t, cl_uint,   \
     const cl_event*, cl_event*))                                      \
  F(EnqueueSVMMemFill, cl_int,                                         \
    (cl_command_queue, void*, const void*, size_t, size_t, cl_uint,    \
     const cl_event*, cl_event*))

struct Functions {
#define EMBER_OPENCL_MEMBER(name, result, parameters) \
  result(*name) parameters = nullptr;
  EMBER_OPENCL_FUNCTIONS(EMBER_OPENCL_MEMBER)
  EMBER_OPENCL_OPTIONAL_FUNCTIONS(EMBER_OPENCL_MEMBER)
#undef EMBER_OPENCL_MEMBER
};

}  // namespace ember::hal::opencl

#endif  // EMBER_HAL_OPENCL_API_FUNCTIONS_H_
