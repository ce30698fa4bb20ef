// Compares functions.h with OpenCL's own header at compile time: a mistake does
// not compile. Where the header is not installed, the test is skipped.
#include "hal/opencl/api/functions.h"

#include "gtest/gtest.h"
#include "hal/opencl/api/result.h"

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <type_traits>
#define EMBER_HAS_HEADER 1
#else
#define EMBER_HAS_HEADER 0
#endif

namespace ember::hal::opencl {
namespace {

#if EMBER_HAS_HEADER

// True if two types correspond: both are void, both are pointers, or they have
// the same size and signedness. The parameters of our function types and of the
// header's are compared one by one.
template <typename A, typename B>
constexpr bool kCorresponds = (std::is_void_v<A> && std::is_void_v<B>) ||
                              (std::is_pointer_v<A> && std::is_pointer_v<B>);
template <typename A, typename B>
  requires(!std::is_void_v<A> && !std::is_void_v<B> && !std::is_pointer_v<A> &&
           !std::is_pointer_v<B>)
constexpr bool kCorresponds<A, B> =
    sizeof(A) == sizeof(B) && std::is_signed_v<A> == std::is_signed_v<B>;

template <typename A, typename B>
constexpr bool kSameFunctions = false;
template <typename A, typename... As, typename B, typename... Bs>
  requires(sizeof...(As) == sizeof...(Bs))
constexpr bool kSameFunctions<A (*)(As...), B (*)(Bs...)> =
    kCorresponds<A, B> && (kCorresponds<As, Bs> && ...);

#define EMBER_SAME_FUNCTION(name, result, parameters)                 \
  static_assert(                                                      \
      kSameFunctions<decltype(Functions::name), decltype(&cl##name)>, \
      "cl" #name);
EMBER_OPENCL_FUNCTIONS(EMBER_SAME_FUNCTION)
EMBER_OPENCL_OPTIONAL_FUNCTIONS(EMBER_SAME_FUNCTION)

#define EMBER_SAME_VALUE(name, theirs) \
  static_assert(int64_t{name} == static_cast<int64_t>(theirs))
EMBER_SAME_VALUE(kPlatformVersion, CL_PLATFORM_VERSION);
EMBER_SAME_VALUE(kDeviceTypeCpu, CL_DEVICE_TYPE_CPU);
EMBER_SAME_VALUE(kDeviceTypeGpu, CL_DEVICE_TYPE_GPU);
EMBER_SAME_VALUE(kDeviceTypeAll, CL_DEVICE_TYPE_ALL);
EMBER_SAME_VALUE(kDeviceType, CL_DEVICE_TYPE);
EMBER_SAME_VALUE(kDeviceMaxWorkGroupSize, CL_DEVICE_MAX_WORK_GROUP_SIZE);
EMBER_SAME_VALUE(kDeviceMaxWorkItemSizes, CL_DEVICE_MAX_WORK_ITEM_SIZES);
EMBER_SAME_VALUE(kDevicePreferredVectorWidthFloat,
                 CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT);
EMBER_SAME_VALUE(kDeviceMaxMemAllocSize, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
EMBER_SAME_VALUE(kDeviceMaxParameterSize, CL_DEVICE_MAX_PARAMETER_SIZE);
EMBER_SAME_VALUE(kDeviceSingleFpConfig, CL_DEVICE_SINGLE_FP_CONFIG);
EMBER_SAME_VALUE(kDeviceGlobalMemSize, CL_DEVICE_GLOBAL_MEM_SIZE);
EMBER_SAME_VALUE(kDeviceLocalMemSize, CL_DEVICE_LOCAL_MEM_SIZE);
EMBER_SAME_VALUE(kDeviceEndianLittle, CL_DEVICE_ENDIAN_LITTLE);
EMBER_SAME_VALUE(kDeviceAvailable, CL_DEVICE_AVAILABLE);
EMBER_SAME_VALUE(kDeviceCompilerAvailable, CL_DEVICE_COMPILER_AVAILABLE);
EMBER_SAME_VALUE(kDeviceName, CL_DEVICE_NAME);
EMBER_SAME_VALUE(kDeviceVendor, CL_DEVICE_VENDOR);
EMBER_SAME_VALUE(kDriverVersion, CL_DRIVER_VERSION);
EMBER_SAME_VALUE(kDeviceProfile, CL_DEVICE_PROFILE);
EMBER_SAME_VALUE(kDeviceVersion, CL_DEVICE_VERSION);
EMBER_SAME_VALUE(kDeviceDoubleFpConfig, CL_DEVICE_DOUBLE_FP_CONFIG);
EMBER_SAME_VALUE(kDeviceHostUnifiedMemory, CL_DEVICE_HOST_UNIFIED_MEMORY);
EMBER_SAME_VALUE(kDeviceSvmCapabilities, CL_DEVICE_SVM_CAPABILITIES);
EMBER_SAME_VALUE(kDevicePreferredWorkGroupSizeMultiple,
                 CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
EMBER_SAME_VALUE(kFpCorrectlyRoundedDivideSqrt,
                 CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);
EMBER_SAME_VALUE(kSvmFineGrainBuffer, CL_DEVICE_SVM_FINE_GRAIN_BUFFER);
EMBER_SAME_VALUE(kQueueProfiling, CL_QUEUE_PROFILING_ENABLE);
EMBER_SAME_VALUE(kMemReadWrite, CL_MEM_READ_WRITE);
EMBER_SAME_VALUE(kMemUseHostPtr, CL_MEM_USE_HOST_PTR);
EMBER_SAME_VALUE(kMemSvmFineGrainBuffer, CL_MEM_SVM_FINE_GRAIN_BUFFER);
EMBER_SAME_VALUE(kMapRead, CL_MAP_READ);
EMBER_SAME_VALUE(kMapWrite, CL_MAP_WRITE);
EMBER_SAME_VALUE(kProgramBinarySizes, CL_PROGRAM_BINARY_SIZES);
EMBER_SAME_VALUE(kProgramBinaries, CL_PROGRAM_BINARIES);
EMBER_SAME_VALUE(kProgramBuildLog, CL_PROGRAM_BUILD_LOG);
EMBER_SAME_VALUE(kKernelNumArgs, CL_KERNEL_NUM_ARGS);
EMBER_SAME_VALUE(kKernelWorkGroupSize, CL_KERNEL_WORK_GROUP_SIZE);
EMBER_SAME_VALUE(kKernelLocalMemSize, CL_KERNEL_LOCAL_MEM_SIZE);
EMBER_SAME_VALUE(kEventExecutionStatus, CL_EVENT_COMMAND_EXECUTION_STATUS);
EMBER_SAME_VALUE(kProfilingCommandEnd, CL_PROFILING_COMMAND_END);
EMBER_SAME_VALUE(kComplete, CL_COMPLETE);
EMBER_SAME_VALUE(kDeviceNotFound, CL_DEVICE_NOT_FOUND);
EMBER_SAME_VALUE(kDeviceNotAvailable, CL_DEVICE_NOT_AVAILABLE);
EMBER_SAME_VALUE(kOutOfResources, CL_OUT_OF_RESOURCES);
EMBER_SAME_VALUE(kOutOfHostMemory, CL_OUT_OF_HOST_MEMORY);
EMBER_SAME_VALUE(kBuildProgramFailure, CL_BUILD_PROGRAM_FAILURE);
EMBER_SAME_VALUE(kErrorOfEvents, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
EMBER_SAME_VALUE(kInvalidValue, CL_INVALID_VALUE);
EMBER_SAME_VALUE(kInvalidContext, CL_INVALID_CONTEXT);
EMBER_SAME_VALUE(kInvalidCommandQueue, CL_INVALID_COMMAND_QUEUE);
EMBER_SAME_VALUE(kInvalidBinary, CL_INVALID_BINARY);
EMBER_SAME_VALUE(kInvalidKernelName, CL_INVALID_KERNEL_NAME);

#endif  // EMBER_HAS_HEADER

TEST(Functions, EqualThoseOfTheHeader) {
  if (EMBER_HAS_HEADER == 0)
    GTEST_SKIP() << "no CL/cl.h: install opencl-headers";
  EXPECT_EQ(ResultName(kInvalidBinary), "CL_INVALID_BINARY");
  EXPECT_EQ(ResultName(-12345), "cl_int -12345");
}

}  // namespace
}  // namespace ember::hal::opencl
