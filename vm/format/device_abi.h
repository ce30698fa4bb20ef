// How the entry points of a device's code are called. The one place where back
// ends, which write them, and the launcher (vm/runtime/device_kernel.h), which
// records their calls, agree.
//
//   bindings         buffers in device memory, as DevicePhase::bindings of
//                    kernel_image.h lists them (a buffer of the kernel maybe
//                    more than once); then, if the phase checks indices, the
//                    record of a failed check
//   parameters       the kernel's, 8 bytes each; then the number of the first
//                    task, not 0 only where there are slices
//   tensor maps      one for each of DevicePhase::boxes, 128 bytes each aligned
//                    to 64: CUDA's CUtensorMap of the whole buffer
//   workgroups       {x, y, 1}; number n = x + y * (workgroups along x) runs
//                    tasks first + n * tasks_per_workgroup and on, those that
//                    exist; if DevicePhase::most_workgroups is not 0, there are
//                    no more than that, and number n goes on with what would
//                    be the share of n + workgroups, n + 2 * workgroups, …
//
// How a device passes bindings and parameters, the formats of hal/executable.h
// say.
#ifndef EMBER_VM_FORMAT_DEVICE_ABI_H_
#define EMBER_VM_FORMAT_DEVICE_ABI_H_

#include <cstdint>
#include <vector>

namespace ember::vm {

// A tensor map, by which a device copies a box of a tensor to a workgroup's
// memory at once, with zeros for what is outside of the tensor: where a kernel
// wants one, and of what. The tensor is all of a buffer, row-major and
// contiguous, of elements of as many bytes as the buffer's have.
struct BoxMap {
  uint32_t binding = 0;       // of the phase, which is no slice
  std::vector<uint32_t> box;  // elements along each dim of the buffer
  // The buffer's dims in the order in which the box has them in the workgroup's
  // memory, the outermost first; the buffer's last one is the last. Empty: as
  // the buffer has them.
  std::vector<uint32_t> order;
  // Rows of the box, of at most 128 bytes, have their pieces of 16 bytes
  // exchanged: piece p of row r is at p ^ (r % 8)
  // (CU_TENSOR_MAP_SWIZZLE_128B).
  bool is_swizzled = false;

  bool operator==(const BoxMap&) const = default;
};

// What devices have, and what a call's buffers must keep to, or it is refused:
// extents from 1 to 2^32, distances of neighbours in all dims but the last
// (strides) a multiple of 16 bytes and below 2^40, an address that is a
// multiple of 16.
inline constexpr uint32_t kMostBoxMaps = 16;  // of a phase
// Of a tensor map as an argument.
inline constexpr uint64_t kBoxMapBytes = 128;
inline constexpr uint64_t kBoxMapAlignment = 64;
inline constexpr uint32_t kMostBoxDims = 5;
inline constexpr uint32_t kMostBoxExtent = 256;
inline constexpr int64_t kBoxAlignment = 16;        // of a row of a box, too
inline constexpr int64_t kMostSwizzledBytes = 128;  // of a row
inline constexpr int64_t kMostBoxStride = (int64_t{1} << 40) - 1;

// Extents of buffers whose sizes are open, and numbers of tasks, are at most
// this; elements of each buffer, slices counted, at most kMostDeviceElements.
// The code relies on it, so that indices fit 32 bits: whoever records it
// refuses other parameters.
inline constexpr int64_t kMostDeviceExtent = int64_t{1} << 30;
inline constexpr int64_t kMostDeviceElements = INT32_MAX;

// What a failed check says, as words in memory. The first invocation that turns
// `flag` from 0 to 1 writes the rest.
struct CheckRecord {
  uint32_t flag = 0;
  uint32_t buffer = 0;  // of the kernel
  uint32_t dim = 0;
  uint32_t unused = 0;
  int64_t index = 0;
  int64_t extent = 0;
};
static_assert(sizeof(CheckRecord) == 32);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_DEVICE_ABI_H_
