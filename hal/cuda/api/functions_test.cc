// Compares functions.h with CUDA's own header at compile time: a mistake does
// not compile.
#include "hal/cuda/api/functions.h"

#include <cuda.h>

#include <cstddef>
#include <type_traits>

#include "gtest/gtest.h"
#include "hal/cuda/api/result.h"

namespace ember::hal::cuda {
namespace {

#define EMBER_SAME_FIELD(type, field)                              \
  static_assert(offsetof(type, field) == offsetof(::type, field)); \
  static_assert(sizeof(type::field) == sizeof(::type::field))
#define EMBER_SAME_SIZE(type) static_assert(sizeof(type) == sizeof(::type))

EMBER_SAME_SIZE(CUresult);
EMBER_SAME_SIZE(CUdevice);
EMBER_SAME_SIZE(CUdeviceptr);
EMBER_SAME_SIZE(CUcontext);
EMBER_SAME_SIZE(CUdevice_attribute);
EMBER_SAME_SIZE(CUjit_option);

EMBER_SAME_SIZE(CUmemPoolProps);
EMBER_SAME_FIELD(CUmemPoolProps, allocType);
EMBER_SAME_FIELD(CUmemPoolProps, location);
EMBER_SAME_FIELD(CUmemPoolProps, maxSize);
EMBER_SAME_FIELD(CUmemPoolProps, reserved);

// CUDA's header has two versions of this structure. Ours is the first one,
// which the function cuGraphAddKernelNode (without a version suffix) takes.
static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS) ==
              sizeof(::CUDA_KERNEL_NODE_PARAMS_v1));
static_assert(offsetof(CUDA_KERNEL_NODE_PARAMS, kernelParams) ==
              offsetof(::CUDA_KERNEL_NODE_PARAMS_v1, kernelParams));

EMBER_SAME_SIZE(CUDA_MEMSET_NODE_PARAMS);
EMBER_SAME_FIELD(CUDA_MEMSET_NODE_PARAMS, value);
EMBER_SAME_FIELD(CUDA_MEMSET_NODE_PARAMS, height);

EMBER_SAME_SIZE(CUDA_MEMCPY3D);
EMBER_SAME_FIELD(CUDA_MEMCPY3D, srcMemoryType);
EMBER_SAME_FIELD(CUDA_MEMCPY3D, srcDevice);
EMBER_SAME_FIELD(CUDA_MEMCPY3D, dstMemoryType);
EMBER_SAME_FIELD(CUDA_MEMCPY3D, dstDevice);
EMBER_SAME_FIELD(CUDA_MEMCPY3D, WidthInBytes);
EMBER_SAME_FIELD(CUDA_MEMCPY3D, Depth);

// The alignment may be larger than in the installed header, because headers
// before CUDA 13 align a CUtensorMap to 64 bytes only.
EMBER_SAME_SIZE(CUtensorMap);
static_assert(alignof(CUtensorMap) >= alignof(::CUtensorMap));

#define EMBER_SAME_VALUE(name, theirs) \
  static_assert(int64_t{name} == static_cast<int64_t>(::theirs))

EMBER_SAME_VALUE(kMaxThreadsPerBlock,
                 CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
EMBER_SAME_VALUE(kMaxBlockDimX, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
EMBER_SAME_VALUE(kMaxBlockDimX + 2, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
EMBER_SAME_VALUE(kMaxGridDimX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
EMBER_SAME_VALUE(kMaxGridDimX + 2, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
EMBER_SAME_VALUE(kMaxSharedMemoryPerBlock,
                 CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
EMBER_SAME_VALUE(kWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
EMBER_SAME_VALUE(kMultiprocessorCount,
                 CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
EMBER_SAME_VALUE(kL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
EMBER_SAME_VALUE(kUnifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
EMBER_SAME_VALUE(kComputeCapabilityMajor,
                 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
EMBER_SAME_VALUE(kComputeCapabilityMinor,
                 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
EMBER_SAME_VALUE(kMaxSharedMemoryPerBlockOptin,
                 CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
EMBER_SAME_VALUE(kMemoryPoolsSupported,
                 CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
EMBER_SAME_VALUE(kFunctionMaxThreadsPerBlock,
                 CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
EMBER_SAME_VALUE(kFunctionSharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
EMBER_SAME_VALUE(kFunctionMaxDynamicSharedSizeBytes,
                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
EMBER_SAME_VALUE(kPoolReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
EMBER_SAME_VALUE(kJitInfoLogBuffer, CU_JIT_INFO_LOG_BUFFER);
EMBER_SAME_VALUE(kJitInfoLogBufferSizeBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
EMBER_SAME_VALUE(kJitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
EMBER_SAME_VALUE(kJitErrorLogBufferSizeBytes,
                 CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
EMBER_SAME_VALUE(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
EMBER_SAME_VALUE(kEventDefault, CU_EVENT_DEFAULT);
EMBER_SAME_VALUE(kEventDisableTiming, CU_EVENT_DISABLE_TIMING);
EMBER_SAME_VALUE(kMemoryTypeUnified, CU_MEMORYTYPE_UNIFIED);
EMBER_SAME_VALUE(kAllocationTypePinned, CU_MEM_ALLOCATION_TYPE_PINNED);
EMBER_SAME_VALUE(kLocationTypeDevice, CU_MEM_LOCATION_TYPE_DEVICE);
EMBER_SAME_VALUE(kTensorMapUint8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
EMBER_SAME_VALUE(kTensorMapUint16, CU_TENSOR_MAP_DATA_TYPE_UINT16);
EMBER_SAME_VALUE(kTensorMapUint32, CU_TENSOR_MAP_DATA_TYPE_UINT32);
EMBER_SAME_VALUE(kTensorMapUint64, CU_TENSOR_MAP_DATA_TYPE_UINT64);
EMBER_SAME_VALUE(kTensorMapInterleaveNone, CU_TENSOR_MAP_INTERLEAVE_NONE);
EMBER_SAME_VALUE(kTensorMapSwizzleNone, CU_TENSOR_MAP_SWIZZLE_NONE);
EMBER_SAME_VALUE(kTensorMapSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
EMBER_SAME_VALUE(kTensorMapL2Promotion128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
EMBER_SAME_VALUE(kTensorMapL2Promotion256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
EMBER_SAME_VALUE(kTensorMapFillZeros, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
static_assert(kHostAllocPortable == CU_MEMHOSTALLOC_PORTABLE);
static_assert(kHostAllocDeviceMap == CU_MEMHOSTALLOC_DEVICEMAP);

EMBER_SAME_VALUE(kSuccess, CUDA_SUCCESS);
EMBER_SAME_VALUE(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
EMBER_SAME_VALUE(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
EMBER_SAME_VALUE(kNoDevice, CUDA_ERROR_NO_DEVICE);
EMBER_SAME_VALUE(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
EMBER_SAME_VALUE(kInvalidImage, CUDA_ERROR_INVALID_IMAGE);
EMBER_SAME_VALUE(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
EMBER_SAME_VALUE(kInvalidHandle, CUDA_ERROR_INVALID_HANDLE);
EMBER_SAME_VALUE(kNotFound, CUDA_ERROR_NOT_FOUND);
EMBER_SAME_VALUE(kNotReady, CUDA_ERROR_NOT_READY);
EMBER_SAME_VALUE(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
EMBER_SAME_VALUE(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);

// True if the function in CUDA's header has the same number of parameters, each
// of the same size. Functions whose name means a newer version in the header
// are not compared.
template <typename Ours, typename Theirs>
struct AreAlike : std::false_type {};
template <typename... Ours, typename... Theirs>
struct AreAlike<CUresult (*)(Ours...), ::CUresult (*)(Theirs...)> {
  static constexpr bool Value() {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs)) {
      // Pointers are compared by their own size, not by that of what they point
      // to, because the types behind ours and the header's differ.
      return ((sizeof(Ours) == sizeof(Theirs)) && ...);
    } else {
      return false;
    }
  }
};

TEST(FunctionsTest, HaveTheHeadersParameters) {
  int count = 0;
#define EMBER_COMPARE(name, symbol, parameters)                 \
  if constexpr (AreAlike<decltype(Functions::name),             \
                         decltype(&::symbol)>::Value()) {       \
    ++count;                                                    \
  } else {                                                      \
    EXPECT_STREQ(#symbol, "cuGraphAddKernelNode") << "differs"; \
  }
  EMBER_CUDA_FUNCTIONS(EMBER_COMPARE)
  const int required = count;
  EMBER_CUDA_OPTIONAL_FUNCTIONS(EMBER_COMPARE)
#undef EMBER_COMPARE
  EXPECT_GT(required, 45);
  EXPECT_EQ(count, required + 1);
}

}  // namespace
}  // namespace ember::hal::cuda
