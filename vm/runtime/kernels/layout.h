// The needs of a kernel's call for given parameters: sizes of buffers, numbers
// of tasks, bytes of temporaries. The kernels of all devices use it.
//
//   EMBER_ASSIGN_OR_RETURN(KernelLayout layout,
//                          LayOutKernel(image, parameters, 64));
//   layout.bytes[buffer];
//
// The image must be verified (its code does not matter). Thread-safe.
#ifndef EMBER_VM_RUNTIME_KERNELS_LAYOUT_H_
#define EMBER_VM_RUNTIME_KERNELS_LAYOUT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/format/kernel_image.h"

namespace ember::vm {

struct KernelLayout {
  std::vector<int64_t> bytes;                 // bytes of each buffer
  std::vector<std::vector<int64_t>> extents;  // extents of each buffer
  // Offsets of kCall and kTask buffers in the memory of their kind.
  std::vector<int64_t> offsets;
  // number of tasks of the prologue phases, then of the other phases
  std::vector<int64_t> phase_tasks;
  // Values of KernelImage::iterations in the same order; empty if the image has
  // none.
  std::vector<int64_t> phase_iterations;
  int64_t call_bytes = 0;
  int64_t task_bytes = 0;  // bytes of temporaries that one task needs
};

// Computes the layout of a call. parameters: as many as the image's
// parameter_count. alignment: of offsets, in bytes. kResourceExhausted for
// sizes beyond the limits.
StatusOr<KernelLayout> LayOutKernel(const KernelImage& image,
                                    std::span<const int64_t> parameters,
                                    int64_t alignment);

// Returns an error such as "dispatch @name: buffer %x: expected index 0 in
// 0..4, found 7".
Status FailedCheck(const std::string& dispatch, const std::string& buffer,
                   uint32_t dim, int64_t index, int64_t extent);

// Checks that constant inputs have as many bytes as the layout says; other
// inputs are empty.
Status CheckConstants(const KernelImage& image, const KernelLayout& layout,
                      std::span<const std::span<const uint8_t>> constants);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNELS_LAYOUT_H_
