// How the machine code of a kernel is called: what a back end emits and what
// the launcher (vm/runtime/cpu_kernel.h) calls. It is part of the file format,
// as modules carry such code (vm/format/kernel_image.h).
#ifndef EMBER_VM_FORMAT_KERNEL_ABI_H_
#define EMBER_VM_FORMAT_KERNEL_ABI_H_

#include <cstdint>

namespace ember::vm {

// What a failed check says: index number `dim` of an access of `buffer` was
// not in 0..extent-1. Several tasks may fail; the caller gives each worker one
// and reports any of them.
struct IndexFailure {
  uint32_t buffer = 0;  // of the image
  uint32_t dim = 0;
  int64_t index = 0;
  int64_t extent = 0;
};

// Runs tasks [begin, end) of one phase; returns 0, or 1 after a check failed,
// having filled `failure` and left the other tasks undone. parameters: the
// image's. buffers: one pointer per buffer of the image, 64-byte aligned but
// for inputs and outputs, which are aligned as the image says; of kTask buffers
// this worker's own memory; unused for kRegister. An output may be the same
// memory as an input where the image says so; nothing else overlaps.
using PhaseFunction = int32_t (*)(const int64_t* parameters,
                                  void* const* buffers, int64_t begin,
                                  int64_t end, IndexFailure* failure);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_KERNEL_ABI_H_
