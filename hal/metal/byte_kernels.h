// The driver's own kernels, as MSL. They copy and fill bytes where Metal's
// commands for that cannot: on macOS these need multiples of 4 bytes.
//
// Buffer 0 is the target, buffer 1 the source. Buffer 30 has three numbers for
// a copy: the offset of the target, that of the source, and the number of
// bytes; and for a fill the offset, the number of bytes, and the value. Each
// thread takes every n-th byte, where n is the number of all threads.
#ifndef EMBER_HAL_METAL_BYTE_KERNELS_H_
#define EMBER_HAL_METAL_BYTE_KERNELS_H_

#include <cstdint>
#include <string_view>

namespace ember::hal::metal {

inline constexpr char kCopyBytes[] = "copy_bytes";
inline constexpr char kFillBytes[] = "fill_bytes";

// Threads of a threadgroup, and the largest number of threadgroups.
inline constexpr uint64_t kByteThreads = 64;
inline constexpr uint64_t kMaxByteGroups = 4096;

inline constexpr std::string_view kByteKernels = R"(#include <metal_stdlib>
using namespace metal;

kernel void copy_bytes(device uchar *target [[buffer(0)]], device const uchar *source [[buffer(1)]], constant ulong *numbers [[buffer(30)]], uint3 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]], uint3 local_id [[thread_position_in_threadgroup]]) {
  const ulong step = (ulong)groups.x * 64;
  for (ulong i = (ulong)group.x * 64 + local_id.x; i < numbers[2]; i += step)
    target[numbers[0] + i] = source[numbers[1] + i];
}

kernel void fill_bytes(device uchar *target [[buffer(0)]], constant ulong *numbers [[buffer(30)]], uint3 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]], uint3 local_id [[thread_position_in_threadgroup]]) {
  const ulong step = (ulong)groups.x * 64;
  for (ulong i = (ulong)group.x * 64 + local_id.x; i < numbers[1]; i += step)
    target[numbers[0] + i] = (uchar)numbers[2];
}
)";

}  // namespace ember::hal::metal

#endif  // EMBER_HAL_METAL_BYTE_KERNELS_H_
