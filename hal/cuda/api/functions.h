// The part of CUDA's driver API that Ember's CUDA driver uses: types, constants
// and functions, one line each. They are declared here as in the public API,
// because a machine that builds Ember need not have the CUDA toolkit.
// functions_test compares it with cuda.h if that is installed.
//
//   EMBER_ASSIGN_OR_RETURN(const Library library, OpenLibrary());
//   library.cu.Init(0);   // cuInit
//
// Values. Source: the CUDA Driver API reference.
#ifndef EMBER_HAL_CUDA_API_FUNCTIONS_H_
#define EMBER_HAL_CUDA_API_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>

namespace ember::hal::cuda {

// The result of a CUDA call: 0 is success. hal/cuda/api/result.h has names and
// meanings of the other values.
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUarray = struct CUarray_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;
// In CUDA's header these types are C enumerations. They are integers here,
// because C passes enumerations as integers.
using CUdevice_attribute = int;
using CUfunction_attribute = int;
using CUmemPool_attribute = int;
using CUjit_option = int;
using CUmemorytype = int;
using CUtensorMapDataType = int;
using CUtensorMapInterleave = int;
using CUtensorMapSwizzle = int;
using CUtensorMapL2promotion = int;
using CUtensorMapFloatOOBfill = int;

inline constexpr CUdevice_attribute kMaxThreadsPerBlock = 1;
// The largest extent of a block along x. The limits along y and z are the
// attributes with the next two numbers, 3 and 4.
inline constexpr CUdevice_attribute kMaxBlockDimX = 2;
// The largest extent of a grid along x. The limits along y and z are the
// attributes with the next two numbers, 6 and 7.
inline constexpr CUdevice_attribute kMaxGridDimX = 5;
inline constexpr CUdevice_attribute kMaxSharedMemoryPerBlock = 8;
inline constexpr CUdevice_attribute kWarpSize = 10;
inline constexpr CUdevice_attribute kMultiprocessorCount = 16;
inline constexpr CUdevice_attribute kL2CacheSize = 38;
inline constexpr CUdevice_attribute kUnifiedAddressing = 41;
inline constexpr CUdevice_attribute kComputeCapabilityMajor = 75;
inline constexpr CUdevice_attribute kComputeCapabilityMinor = 76;
inline constexpr CUdevice_attribute kMaxSharedMemoryPerBlockOptin = 97;
inline constexpr CUdevice_attribute kMemoryPoolsSupported = 115;

inline constexpr CUfunction_attribute kFunctionMaxThreadsPerBlock = 0;
inline constexpr CUfunction_attribute kFunctionSharedSizeBytes = 1;
inline constexpr CUfunction_attribute kFunctionMaxDynamicSharedSizeBytes = 8;

// Number of bytes of free memory that a pool keeps; a uint64_t, although other
// attributes are int.
inline constexpr CUmemPool_attribute kPoolReleaseThreshold = 4;

inline constexpr CUjit_option kJitInfoLogBuffer = 3;
inline constexpr CUjit_option kJitInfoLogBufferSizeBytes = 4;
inline constexpr CUjit_option kJitErrorLogBuffer = 5;
inline constexpr CUjit_option kJitErrorLogBufferSizeBytes = 6;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostAllocPortable = 1;
inline constexpr unsigned kHostAllocDeviceMap = 2;
inline constexpr CUmemorytype kMemoryTypeUnified = 4;
inline constexpr int kAllocationTypePinned = 1;
inline constexpr int kLocationTypeDevice = 1;

inline constexpr CUtensorMapDataType kTensorMapUint8 = 0;
inline constexpr CUtensorMapDataType kTensorMapUint16 = 1;
inline constexpr CUtensorMapDataType kTensorMapUint32 = 2;
inline constexpr CUtensorMapDataType kTensorMapUint64 = 4;
inline constexpr CUtensorMapInterleave kTensorMapInterleaveNone = 0;
inline constexpr CUtensorMapSwizzle kTensorMapSwizzleNone = 0;
inline constexpr CUtensorMapSwizzle kTensorMapSwizzle128 = 3;
inline constexpr CUtensorMapL2promotion kTensorMapL2Promotion128 = 2;
inline constexpr CUtensorMapL2promotion kTensorMapL2Promotion256 = 3;
inline constexpr CUtensorMapFloatOOBfill kTensorMapFillZeros = 0;

struct CUmemLocation {
  int type = 0;
  int id = 0;
};

struct CUmemPoolProps {
  int allocType = 0;
  int handleTypes = 0;
  CUmemLocation location;
  void* win32SecurityAttributes = nullptr;
  size_t maxSize = 0;
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};

struct CUDA_KERNEL_NODE_PARAMS {
  CUfunction func = nullptr;
  unsigned gridDimX = 1, gridDimY = 1, gridDimZ = 1;
  unsigned blockDimX = 1, blockDimY = 1, blockDimZ = 1;
  unsigned sharedMemBytes = 0;
  void** kernelParams = nullptr;
  void** extra = nullptr;
};

struct CUDA_MEMSET_NODE_PARAMS {
  CUdeviceptr dst = 0;
  size_t pitch = 0;
  unsigned value = 0;
  unsigned elementSize = 1;
  size_t width = 0;
  size_t height = 1;
};

struct CUDA_MEMCPY3D {
  size_t srcXInBytes = 0, srcY = 0, srcZ = 0, srcLOD = 0;
  CUmemorytype srcMemoryType = 0;
  const void* srcHost = nullptr;
  CUdeviceptr srcDevice = 0;
  CUarray srcArray = nullptr;
  void* reserved0 = nullptr;
  size_t srcPitch = 0, srcHeight = 0;
  size_t dstXInBytes = 0, dstY = 0, dstZ = 0, dstLOD = 0;
  CUmemorytype dstMemoryType = 0;
  void* dstHost = nullptr;
  CUdeviceptr dstDevice = 0;
  CUarray dstArray = nullptr;
  void* reserved1 = nullptr;
  size_t dstPitch = 0, dstHeight = 0;
  size_t WidthInBytes = 0, Height = 0, Depth = 0;
};

// An encoded tensor map: it describes a tensor to a kernel that copies boxes of
// it. CUDA 12 aligns this structure to 64 bytes, CUDA 13 to 128.
struct alignas(128) CUtensorMap {
  uint64_t opaque[16] = {};
};

// Table of the CUDA functions that every accepted driver has. Columns: F(name
// in this code, symbol in libcuda, parameters). All functions return a
// CUresult. The symbols are those of CUDA 11.4, which later drivers keep.
#define EMBER_CUDA_FUNCTIONS(F)                                               \
  F(Init, cuInit, (unsigned))                                                 \
  F(DriverGetVersion, cuDriverGetVersion, (int*))                             \
  F(DeviceGetCount, cuDeviceGetCount, (int*))                                 \
  F(DeviceGet, cuDeviceGet, (CUdevice*, int))                                 \
  F(DeviceGetName, cuDeviceGetName, (char*, int, CUdevice))                   \
  F(DeviceGetAttribute, cuDeviceGetAttribute,                                 \
    (int*, CUdevice_attribute, CUdevice))                                     \
  F(DeviceTotalMem, cuDeviceTotalMem_v2, (size_t*, CUdevice))                 \
  F(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext*, CUdevice)) \
  F(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice))        \
  F(CtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext))                         \
  F(CtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext*))                          \
  F(MemAlloc, cuMemAlloc_v2, (CUdeviceptr*, size_t))                          \
  F(MemFree, cuMemFree_v2, (CUdeviceptr))                                     \
  F(MemPoolCreate, cuMemPoolCreate, (CUmemoryPool*, const CUmemPoolProps*))   \
  F(MemPoolDestroy, cuMemPoolDestroy, (CUmemoryPool))                         \
  F(MemPoolSetAttribute, cuMemPoolSetAttribute,                               \
    (CUmemoryPool, CUmemPool_attribute, void*))                               \
  F(MemAllocFromPoolAsync, cuMemAllocFromPoolAsync,                           \
    (CUdeviceptr*, size_t, CUmemoryPool, CUstream))                           \
  F(MemFreeAsync, cuMemFreeAsync, (CUdeviceptr, CUstream))                    \
  F(MemHostAlloc, cuMemHostAlloc, (void**, size_t, unsigned))                 \
  F(MemFreeHost, cuMemFreeHost, (void*))                                      \
  F(MemHostGetDevicePointer, cuMemHostGetDevicePointer_v2,                    \
    (CUdeviceptr*, void*, unsigned))                                          \
  F(MemcpyAsync, cuMemcpyAsync, (CUdeviceptr, CUdeviceptr, size_t, CUstream)) \
  F(MemsetD8Async, cuMemsetD8Async,                                           \
    (CUdeviceptr, unsigned char, size_t, CUstream))                           \
  F(StreamCreate, cuStreamCreate, (CUstream*, unsigned))                      \
  F(StreamDestroy, cuStreamDestroy_v2, (CUstream))                            \
  F(StreamSynchronize, cuStreamSynchronize, (CUstream))                       \
  F(EventCreate, cuEventCreate, (CUevent*, unsigned))                         \
  F(EventDestroy, cuEventDestroy_v2, (CUevent))                               \
  F(EventRecord, cuEventRecord, (CUevent, CUstream))                          \
  F(EventQuery, cuEventQuery, (CUevent))                                      \
  F(EventSynchronize, cuEventSynchronize, (CUevent))                          \
  F(EventElapsedTime, cuEventElapsedTime, (float*, CUevent, CUevent))         \
  F(ModuleLoadDataEx, cuModuleLoadDataEx,                                     \
    (CUmodule*, const void*, unsigned, CUjit_option*, void**))                \
  F(ModuleUnload, cuModuleUnload, (CUmodule))                                 \
  F(ModuleGetFunction, cuModuleGetFunction,                                   \
    (CUfunction*, CUmodule, const char*))                                     \
  F(FuncGetAttribute, cuFuncGetAttribute,                                     \
    (int*, CUfunction_attribute, CUfunction))                                 \
  F(FuncSetAttribute, cuFuncSetAttribute,                                     \
    (CUfunction, CUfunction_attribute, int))                                  \
  F(LaunchKernel, cuLaunchKernel,                                             \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,  \
     unsigned, CUstream, void**, void**))                                     \
  F(GraphCreate, cuGraphCreate, (CUgraph*, unsigned))                         \
  F(GraphDestroy, cuGraphDestroy, (CUgraph))                                  \
  F(GraphAddKernelNode, cuGraphAddKernelNode,                                 \
    (CUgraphNode*, CUgraph, const CUgraphNode*, size_t,                       \
     const CUDA_KERNEL_NODE_PARAMS*))                                         \
  F(GraphAddMemcpyNode, cuGraphAddMemcpyNode,                                 \
    (CUgraphNode*, CUgraph, const CUgraphNode*, size_t, const CUDA_MEMCPY3D*, \
     CUcontext))                                                              \
  F(GraphAddMemsetNode, cuGraphAddMemsetNode,                                 \
    (CUgraphNode*, CUgraph, const CUgraphNode*, size_t,                       \
     const CUDA_MEMSET_NODE_PARAMS*, CUcontext))                              \
  F(GraphAddEmptyNode, cuGraphAddEmptyNode,                                   \
    (CUgraphNode*, CUgraph, const CUgraphNode*, size_t))                      \
  F(GraphInstantiate, cuGraphInstantiateWithFlags,                            \
    (CUgraphExec*, CUgraph, unsigned long long))                              \
  F(GraphLaunch, cuGraphLaunch, (CUgraphExec, CUstream))                      \
  F(GraphExecDestroy, cuGraphExecDestroy, (CUgraphExec))

// Table of functions that only newer drivers have, from CUDA 12.0 on. Their
// pointers are null if the library lacks them.
#define EMBER_CUDA_OPTIONAL_FUNCTIONS(F)                                       \
  F(TensorMapEncodeTiled, cuTensorMapEncodeTiled,                              \
    (CUtensorMap*, CUtensorMapDataType, uint32_t, void*, const uint64_t*,      \
     const uint64_t*, const uint32_t*, const uint32_t*, CUtensorMapInterleave, \
     CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill))

struct Functions {
#define EMBER_CUDA_MEMBER(name, symbol, parameters) \
  CUresult(*name) parameters = nullptr;
  EMBER_CUDA_FUNCTIONS(EMBER_CUDA_MEMBER)
  EMBER_CUDA_OPTIONAL_FUNCTIONS(EMBER_CUDA_MEMBER)
#undef EMBER_CUDA_MEMBER
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_API_FUNCTIONS_H_
