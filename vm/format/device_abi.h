// The calling convention of entry points in a device's code. Back ends write
// the entry points, and the launcher (vm/runtime/kernels/device_kernel.h)
// records their calls; both follow this specification.
//
//   bindings         buffers in device memory, as DevicePhase::bindings of
//                    kernel_image.h lists them (a buffer of the kernel may be
//                    in the list more than once); then, if the phase checks
//                    indices, the record of a failed check
//   parameters       the kernel's, 8 bytes each; then the number of the first
//                    task, which is not 0 only if a buffer is sliced
//                    (DevicePhase::Binding of kernel_image.h)
//   tensor maps      one for each of DevicePhase::boxes, 128 bytes each aligned
//                    to 64: CUDA's CUtensorMap of the whole buffer
//   workgroups       {x, y, 1}; workgroup n = x + y * (workgroups along x) runs
//                    tasks_per_workgroup tasks, the first of which is number
//                    first + n * tasks_per_workgroup. If most_workgroups of
//                    DevicePhase is not 0, there are at most so many workgroups
//                    (a persistent kernel), and workgroup n then also runs the
//                    tasks of the numbers n + workgroups, n + 2 * workgroups, …
//
// The formats of hal/executable.h define how a device passes bindings and
// parameters.
#ifndef EMBER_VM_FORMAT_DEVICE_ABI_H_
#define EMBER_VM_FORMAT_DEVICE_ABI_H_

#include <cstdint>
#include <vector>

namespace ember::vm {

// Describes a tensor map (CUDA's description of a tensor) that a kernel needs.
// By a tensor map a device copies a box of a tensor to a workgroup's memory in
// one operation (TMA). Elements outside of the tensor are copied as zeros. The
// tensor is a whole buffer, row-major and contiguous; its elements have the
// size of the buffer's elements.
struct BoxMap {
  uint32_t binding = 0;       // Number of the phase's binding that is the
                              // tensor. The binding must not be sliced.
  std::vector<uint32_t> box;  // number of elements of the box along each dim of
                              // the buffer
  // The numbers of the buffer's dims in the order in which the box has them in
  // the workgroup's memory, the outermost first. The buffer's last dim stays
  // the last one. An empty list means the buffer's order.
  std::vector<uint32_t> order;
  // True if the box is swizzled as by CU_TENSOR_MAP_SWIZZLE_128B: its rows have
  // at most 128 bytes, and piece p (of 16 bytes) of row r is stored at piece p
  // ^ (r % 8).
  bool is_swizzled = false;

  bool operator==(const BoxMap&) const = default;
};

// Limits of tensor maps on devices. A call whose buffers break them is refused:
// extents are from 1 to 2^32; strides of all dims but the last are multiples of
// 16 bytes and below 2^40; the address is a multiple of 16. kMaxBoxMaps is the
// largest number of tensor maps of a phase.
inline constexpr uint32_t kMaxBoxMaps = 16;
// Size in bytes of a tensor map as an argument; the next constant is its
// alignment.
inline constexpr uint64_t kBoxMapBytes = 128;
inline constexpr uint64_t kBoxMapAlignment = 64;
inline constexpr uint32_t kMaxBoxDims = 5;
inline constexpr uint32_t kMaxBoxExtent = 256;
// Alignment in bytes of addresses and strides. The size of a row of a box is a
// multiple of it.
inline constexpr int64_t kBoxAlignment = 16;
// largest number of bytes of a row of a swizzled box
inline constexpr int64_t kMaxSwizzledBytes = 128;
inline constexpr int64_t kMaxBoxStride = (int64_t{1} << 40) - 1;

// Limits that allow a device's code to use 32-bit indices. Extents of buffers
// of unknown size, and numbers of tasks, are at most kMaxDeviceExtent. Elements
// of each buffer, including its slices, are at most kMaxDeviceElements. The
// launcher refuses parameters that exceed them.
inline constexpr int64_t kMaxDeviceExtent = int64_t{1} << 30;
inline constexpr int64_t kMaxDeviceElements = INT32_MAX;

// The record of a failed index check in a device's memory, as 32-bit words. The
// first invocation that changes `flag` from 0 to 1 writes the other fields.
struct CheckRecord {
  uint32_t flag = 0;
  uint32_t buffer = 0;  // number of the kernel's buffer whose index was out of
                        // range
  uint32_t dim = 0;
  uint32_t unused = 0;
  int64_t index = 0;
  int64_t extent = 0;
};
static_assert(sizeof(CheckRecord) == 32);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_DEVICE_ABI_H_
