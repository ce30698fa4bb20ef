#include "hal/opencl/api/result.h"

#include "base/concat.h"

namespace ember::hal::opencl {
namespace {

struct Row {
  cl_int result;
  std::string_view name;
  StatusCode code;
};

// Table of OpenCL's results with the status code for each. FailedPrecondition
// means that the device is lost. Results that are not in the table become
// Internal.
constexpr Row kRows[] = {
    {kDeviceNotFound, "CL_DEVICE_NOT_FOUND", StatusCode::kNotFound},
    {kDeviceNotAvailable, "CL_DEVICE_NOT_AVAILABLE",
     StatusCode::kFailedPrecondition},
    {-3, "CL_COMPILER_NOT_AVAILABLE", StatusCode::kNotFound},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE", StatusCode::kResourceExhausted},
    {kOutOfResources, "CL_OUT_OF_RESOURCES", StatusCode::kResourceExhausted},
    {kOutOfHostMemory, "CL_OUT_OF_HOST_MEMORY", StatusCode::kResourceExhausted},
    {kBuildProgramFailure, "CL_BUILD_PROGRAM_FAILURE",
     StatusCode::kInvalidArgument},
    {kErrorOfEvents, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
     StatusCode::kFailedPrecondition},
    {kInvalidValue, "CL_INVALID_VALUE", StatusCode::kInternal},
    {-33, "CL_INVALID_DEVICE", StatusCode::kNotFound},
    {kInvalidContext, "CL_INVALID_CONTEXT", StatusCode::kFailedPrecondition},
    {kInvalidCommandQueue, "CL_INVALID_COMMAND_QUEUE",
     StatusCode::kFailedPrecondition},
    {-38, "CL_INVALID_MEM_OBJECT", StatusCode::kInternal},
    {kInvalidBinary, "CL_INVALID_BINARY", StatusCode::kInvalidArgument},
    {-43, "CL_INVALID_BUILD_OPTIONS", StatusCode::kInvalidArgument},
    {-44, "CL_INVALID_PROGRAM", StatusCode::kInvalidArgument},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE", StatusCode::kInvalidArgument},
    {kInvalidKernelName, "CL_INVALID_KERNEL_NAME",
     StatusCode::kInvalidArgument},
    {-48, "CL_INVALID_KERNEL", StatusCode::kInternal},
    {-49, "CL_INVALID_ARG_INDEX", StatusCode::kInternal},
    {-50, "CL_INVALID_ARG_VALUE", StatusCode::kInternal},
    {-51, "CL_INVALID_ARG_SIZE", StatusCode::kInternal},
    {-52, "CL_INVALID_KERNEL_ARGS", StatusCode::kInternal},
    {-54, "CL_INVALID_WORK_GROUP_SIZE", StatusCode::kInvalidArgument},
    {-55, "CL_INVALID_WORK_ITEM_SIZE", StatusCode::kInvalidArgument},
    {-59, "CL_INVALID_OPERATION", StatusCode::kInternal},
    {-61, "CL_INVALID_BUFFER_SIZE", StatusCode::kResourceExhausted},
    {kPlatformNotFound, "CL_PLATFORM_NOT_FOUND_KHR", StatusCode::kNotFound},
    // NVIDIA's driver returns this result, which no specification names, after
    // a kernel accessed memory that does not exist.
    {-9999, "an illegal access of a kernel (-9999)",
     StatusCode::kFailedPrecondition},
};

const Row* Find(cl_int result) {
  for (const Row& row : kRows) {
    if (row.result == result) return &row;
  }
  return nullptr;
}

}  // namespace

std::string ResultName(cl_int result) {
  const Row* const row = Find(result);
  return row != nullptr ? std::string(row->name) : Concat({"cl_int ", result});
}

bool IsLost(cl_int result) {
  const Row* const row = Find(result);
  return row != nullptr && row->code == StatusCode::kFailedPrecondition;
}

Status ResultStatus(std::string_view call, cl_int result) {
  if (result == kSuccess) return OkStatus();
  const Row* const row = Find(result);
  const StatusCode code = row != nullptr ? row->code : StatusCode::kInternal;
  return Status(code, Concat({call, " gave ", ResultName(result)}));
}

}  // namespace ember::hal::opencl
