// Converts the result of a CUDA call to a status.
//
//   EMBER_RETURN_IF_ERROR(ResultStatus("cuInit", cu.Init(0)));
#ifndef EMBER_HAL_CUDA_API_RESULT_H_
#define EMBER_HAL_CUDA_API_RESULT_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "hal/cuda/api/functions.h"

namespace ember::hal::cuda {

inline constexpr CUresult kSuccess = 0;
inline constexpr CUresult kInvalidValue = 1;
inline constexpr CUresult kOutOfMemory = 2;
inline constexpr CUresult kNoDevice = 100;
inline constexpr CUresult kInvalidDevice = 101;
inline constexpr CUresult kInvalidImage = 200;
inline constexpr CUresult kInvalidContext = 201;
inline constexpr CUresult kInvalidHandle = 400;
inline constexpr CUresult kNotFound = 500;
inline constexpr CUresult kNotReady = 600;
inline constexpr CUresult kIllegalAddress = 700;
inline constexpr CUresult kLaunchFailed = 719;

// Returns the name of a result, such as "CUDA_ERROR_OUT_OF_MEMORY"; "CUresult
// 12345" for an unknown result.
std::string ResultName(CUresult result);

// True if the result means that the context is lost for good, because a kernel
// faulted or the device is gone. All later CUDA calls with that context fail,
// too.
bool IsLost(CUresult result);

// Converts a result to a status: OK for success; ResourceExhausted if memory or
// a limit is exhausted; NotFound if there is no device or the driver is too
// old; InvalidArgument if the driver refuses the code; FailedPrecondition if
// IsLost; Internal for any other result. `call` names the CUDA function in the
// message.
Status ResultStatus(std::string_view call, CUresult result);

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_API_RESULT_H_
