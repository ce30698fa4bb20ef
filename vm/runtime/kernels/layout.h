// Computes the sizes of a kernel's call for given parameters: sizes of buffers,
// numbers of tasks, bytes of temporaries. The launchers for the host and for
// devices use it.
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
  std::vector<int64_t> bytes;                 // number of bytes of each buffer
  std::vector<std::vector<int64_t>> extents;  // extents of each buffer
  // Offset of each temporary buffer: for a kCall buffer in the memory of the
  // call, for a kTask buffer in the memory of each task.
  std::vector<int64_t> offsets;
  // number of tasks of each phase: first the prologue's phases, then the others
  std::vector<int64_t> phase_tasks;
  // Values of KernelImage::iterations, in the order of the phases; empty if the
  // image has none.
  std::vector<int64_t> phase_iterations;
  int64_t call_bytes = 0;
  int64_t task_bytes = 0;  // number of bytes of temporaries that each task
                           // needs
};

// Computes the layout of a call. `parameters` has as many values as the image's
// parameter_count. `alignment` is the alignment of offsets in bytes. Returns
// kResourceExhausted for sizes beyond the limits.
StatusOr<KernelLayout> LayOutKernel(const KernelImage& image,
                                    std::span<const int64_t> parameters,
                                    int64_t alignment);

// Returns the error of a failed index check, such as "dispatch @name: buffer
// %x: expected index 0 in 0..4, found 7".
Status FailedCheck(const std::string& dispatch, const std::string& buffer,
                   uint32_t dim, int64_t index, int64_t extent);

// Checks that each constant input has at least as many bytes as the layout
// says. The spans of other inputs are empty.
Status CheckConstants(const KernelImage& image, const KernelLayout& layout,
                      std::span<const std::span<const uint8_t>> constants);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNELS_LAYOUT_H_
