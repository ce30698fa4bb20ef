// The needs of a kernel's call for given parameters: sizes of buffers, numbers
// of tasks, bytes of temporaries. The kernels of all devices use it.
//
//   EMBER_ASSIGN_OR_RETURN(KernelLayout layout,
//                          LayOutKernel(image, parameters, 64));
//   layout.bytes[buffer];
//
// The image must be verified (its code does not matter). Thread-safe.
#ifndef EMBER_VM_RUNTIME_KERNEL_LAYOUT_H_
#define EMBER_VM_RUNTIME_KERNEL_LAYOUT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/format/kernel_image.h"

namespace ember::vm {

struct KernelLayout {
  std::vector<int64_t> bytes;                 // per buffer
  std::vector<std::vector<int64_t>> extents;  // per buffer
  // Offsets of kCall and kTask buffers in the memory of their kind.
  std::vector<int64_t> offsets;
  std::vector<int64_t> phase_tasks;  // prologue phases, then the other phases
  // Values of KernelImage::iterations in the same order; empty if the image has
  // none.
  std::vector<int64_t> phase_iterations;
  int64_t call_bytes = 0;
  int64_t task_bytes = 0;  // for one task at a time
};

// parameters: as many as the image's parameter_count. alignment: of offsets.
// kResourceExhausted for sizes beyond the limits.
StatusOr<KernelLayout> LayOutKernel(const KernelImage& image,
                                    std::span<const int64_t> parameters,
                                    int64_t alignment);

// Returns "dispatch @name: buffer %x: expected index 0 in 0..4, found 7".
Status FailedCheck(const std::string& dispatch, const std::string& buffer,
                   uint32_t dim, int64_t index, int64_t extent);

// Checks that constant inputs have as many bytes as the layout says; other
// inputs are empty.
Status CheckConstants(const KernelImage& image, const KernelLayout& layout,
                      std::span<const std::span<const uint8_t>> constants);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNEL_LAYOUT_H_
