#include "hal/cuda/api/result.h"

#include "base/concat.h"

namespace ember::hal::cuda {
namespace {

struct Row {
  CUresult result;
  std::string_view name;
  StatusCode code;
};

// Table of CUDA's results with the status code for each. FailedPrecondition
// means that the context is lost. Results that are not in the table become
// Internal.
constexpr Row kRows[] = {
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", StatusCode::kInternal},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", StatusCode::kResourceExhausted},
    {3, "CUDA_ERROR_NOT_INITIALIZED", StatusCode::kInternal},
    {4, "CUDA_ERROR_DEINITIALIZED", StatusCode::kFailedPrecondition},
    {34, "CUDA_ERROR_STUB_LIBRARY", StatusCode::kNotFound},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", StatusCode::kNotFound},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", StatusCode::kResourceExhausted},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE", StatusCode::kNotFound},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", StatusCode::kNotFound},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", StatusCode::kInvalidArgument},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", StatusCode::kInternal},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", StatusCode::kInvalidArgument},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", StatusCode::kFailedPrecondition},
    {218, "CUDA_ERROR_INVALID_PTX", StatusCode::kInvalidArgument},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", StatusCode::kNotFound},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", StatusCode::kInvalidArgument},
    {223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", StatusCode::kInvalidArgument},
    {226, "CUDA_ERROR_CONTAINED", StatusCode::kFailedPrecondition},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", StatusCode::kInternal},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", StatusCode::kInternal},
    {401, "CUDA_ERROR_ILLEGAL_STATE", StatusCode::kInternal},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", StatusCode::kInvalidArgument},
    {kNotReady, "CUDA_ERROR_NOT_READY", StatusCode::kInternal},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     StatusCode::kFailedPrecondition},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", StatusCode::kResourceExhausted},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", StatusCode::kFailedPrecondition},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", StatusCode::kFailedPrecondition},
    {710, "CUDA_ERROR_ASSERT", StatusCode::kFailedPrecondition},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", StatusCode::kFailedPrecondition},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", StatusCode::kFailedPrecondition},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", StatusCode::kFailedPrecondition},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", StatusCode::kFailedPrecondition},
    {718, "CUDA_ERROR_INVALID_PC", StatusCode::kFailedPrecondition},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED",
     StatusCode::kFailedPrecondition},
    {800, "CUDA_ERROR_NOT_PERMITTED", StatusCode::kInternal},
    {801, "CUDA_ERROR_NOT_SUPPORTED", StatusCode::kNotFound},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", StatusCode::kNotFound},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", StatusCode::kNotFound},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", StatusCode::kNotFound},
    {999, "CUDA_ERROR_UNKNOWN", StatusCode::kInternal},
};

const Row* Find(CUresult result) {
  for (const Row& row : kRows) {
    if (row.result == result) return &row;
  }
  return nullptr;
}

}  // namespace

std::string ResultName(CUresult result) {
  const Row* const row = Find(result);
  return row != nullptr ? std::string(row->name)
                        : Concat({"CUresult ", result});
}

bool IsLost(CUresult result) {
  const Row* const row = Find(result);
  return row != nullptr && row->code == StatusCode::kFailedPrecondition;
}

Status ResultStatus(std::string_view call, CUresult result) {
  if (result == kSuccess) return OkStatus();
  const Row* const row = Find(result);
  const StatusCode code = row != nullptr ? row->code : StatusCode::kInternal;
  return Status(code, Concat({call, " gave ", ResultName(result)}));
}

}  // namespace ember::hal::cuda
