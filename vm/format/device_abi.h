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
//   workgroups       {x, y, 1}; number n = x + y * (workgroups along x) runs
//                    tasks first + n * tasks_per_workgroup and on, those that
//                    exist
//
// How a device passes bindings and parameters, the formats of hal/executable.h
// say.
#ifndef EMBER_VM_FORMAT_DEVICE_ABI_H_
#define EMBER_VM_FORMAT_DEVICE_ABI_H_

#include <cstdint>

namespace ember::vm {

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
