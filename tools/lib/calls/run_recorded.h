// Runs one call of a kernel that is recorded in a device's command list, on
// operands in host memory. Tools that compare results use it.
//
//   Status status = RunRecorded(*device, *kernel, dispatch, call);
//
// Operands are copied to device memory and results back. Outputs that share an
// input's memory in the call share it there, too. Errors: those of the device
// and of recording; a failed check.
#ifndef EMBER_TOOLS_LIB_CALLS_RUN_RECORDED_H_
#define EMBER_TOOLS_LIB_CALLS_RUN_RECORDED_H_

#include "base/status.h"
#include "hal/device.h"
#include "tensor/dispatch.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::tools {

Status RunRecorded(hal::Device& device, const vm::RecordedKernel& kernel,
                   const tensor::Dispatch& dispatch,
                   const vm::KernelCall& call);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CALLS_RUN_RECORDED_H_
