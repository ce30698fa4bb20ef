// The calling convention of a kernel's machine code. Back ends emit such code,
// and the launcher (vm/runtime/kernels/cpu_kernel.h) calls it. The convention
// is part of the file format, because modules contain such code
// (vm/format/kernel_image.h).
#ifndef EMBER_VM_FORMAT_KERNEL_ABI_H_
#define EMBER_VM_FORMAT_KERNEL_ABI_H_

#include <cstdint>

namespace ember::vm {

// The record of a failed index check: index number `dim` of an access of
// `buffer` was not in 0..extent-1. Several tasks may fail. The caller gives
// each worker a record of its own and reports one of the failures.
struct IndexFailure {
  uint32_t buffer = 0;  // number of the image's buffer that was accessed
  uint32_t dim = 0;
  int64_t index = 0;
  int64_t extent = 0;
};

// A function that runs the tasks [begin, end) of one phase. It returns 0, or 1
// after a failed check: `failure` is then filled in and the remaining tasks are
// not run. `parameters` are the parameters of the image. `buffers` has one
// pointer per buffer of the image. Inputs and outputs are aligned as the image
// says, all others to 64 bytes. Each worker has its own memory for kTask
// buffers. Pointers of kRegister buffers are not used. An output may be the
// same memory as an input if the image says so; otherwise no buffers overlap.
using PhaseFunction = int32_t (*)(const int64_t* parameters,
                                  void* const* buffers, int64_t begin,
                                  int64_t end, IndexFailure* failure);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_KERNEL_ABI_H_
