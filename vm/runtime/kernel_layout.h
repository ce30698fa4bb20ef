// What a call of a kernel needs, for given parameters: sizes of buffers,
// numbers of tasks, room for temporaries. Shared by the kernels of all devices.
//
//   EMBER_ASSIGN_OR_RETURN(KernelLayout layout,
//                          LayOutKernel(image, parameters, 64));
//   layout.bytes[buffer];
//
// Of a verified image (its code does not matter). Thread-safe.
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
  std::vector<int64_t> bytes;                 // of each buffer
  std::vector<std::vector<int64_t>> extents;  // of each buffer
  // Of kCall and kTask buffers, in the memory of all of that kind.
  std::vector<int64_t> offsets;
  std::vector<int64_t> phase_tasks;  // of prologue phases, then of phases
  // The same of KernelImage::iterations; none where the image has none.
  std::vector<int64_t> phase_iterations;
  int64_t call_bytes = 0;
  int64_t task_bytes = 0;  // for one task at a time
};

// parameters: as many as the image's parameter_count. alignment: of offsets.
// kResourceExhausted for what is out of all proportion.
StatusOr<KernelLayout> LayOutKernel(const KernelImage& image,
                                    std::span<const int64_t> parameters,
                                    int64_t alignment);

// "dispatch @name: buffer %x: expected index 0 in 0..4, found 7"
Status FailedCheck(const std::string& dispatch, const std::string& buffer,
                   uint32_t dim, int64_t index, int64_t extent);

// The bytes of constant inputs (empty: of others) are as many as the layout
// says.
Status CheckConstants(const KernelImage& image, const KernelLayout& layout,
                      std::span<const std::span<const uint8_t>> constants);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNEL_LAYOUT_H_
