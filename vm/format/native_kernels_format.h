// What reader and writer of native sections share. Bytes, in order: magic,
// version; count of codes and each code; count of kernels and of each its
// dispatch, the constants of its inputs, the number of its code and its image
// without code (vm/format/kernel_image_bytes.h).
#ifndef EMBER_VM_FORMAT_NATIVE_KERNELS_FORMAT_H_
#define EMBER_VM_FORMAT_NATIVE_KERNELS_FORMAT_H_

#include <cstdint>

namespace ember::vm {

inline constexpr uint32_t kNativeMagic = 0x4b4e4d45;  // "EMNK"
// Raised by every change of the bytes or of kernel_abi.h: native sections are
// made anew from the module, so there is no older one to read.
inline constexpr uint32_t kNativeVersion = 1;

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_NATIVE_KERNELS_FORMAT_H_
