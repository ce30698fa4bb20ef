// Converts the result of an OpenCL call to a status.
//
//   EMBER_RETURN_IF_ERROR(ResultStatus("clFinish", cl.Finish(queue)));
#ifndef EMBER_HAL_OPENCL_API_RESULT_H_
#define EMBER_HAL_OPENCL_API_RESULT_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "hal/opencl/api/functions.h"

namespace ember::hal::opencl {

inline constexpr cl_int kSuccess = 0;
inline constexpr cl_int kDeviceNotFound = -1;
inline constexpr cl_int kDeviceNotAvailable = -2;
inline constexpr cl_int kOutOfResources = -5;
inline constexpr cl_int kOutOfHostMemory = -6;
inline constexpr cl_int kBuildProgramFailure = -11;
inline constexpr cl_int kErrorOfEvents = -14;
inline constexpr cl_int kInvalidValue = -30;
inline constexpr cl_int kInvalidContext = -34;
inline constexpr cl_int kInvalidCommandQueue = -36;
inline constexpr cl_int kInvalidBinary = -42;
inline constexpr cl_int kInvalidKernelName = -46;
inline constexpr cl_int kPlatformNotFound = -1001;

// Returns the name of a result, such as "CL_OUT_OF_RESOURCES"; "cl_int -12345"
// for an unknown result.
std::string ResultName(cl_int result);

// True if the result means that the device is lost for good, because a kernel
// faulted or the device is gone. All later calls fail, too.
bool IsLost(cl_int result);

// Converts a result to a status: OK for success; ResourceExhausted if memory or
// a limit is exhausted; NotFound if there is no device or platform;
// InvalidArgument if the driver refuses the code; FailedPrecondition if IsLost;
// Internal for any other result. `call` names the function in the message.
Status ResultStatus(std::string_view call, cl_int result);

}  // namespace ember::hal::opencl

#endif  // EMBER_HAL_OPENCL_API_RESULT_H_
