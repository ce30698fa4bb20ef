// Definitions of the format of native sections, which their reader and writer
// share. The head of a section contains, in this order:
//
// - the header below;
// - the count of codes, and for each format, alignment, entries, for a device
//   how its phases are launched, and offset and size in the code part;
// - the count of packed constants, and for each offset and size in the weights;
// - the count of kernels, and for each its dispatch, the constants of its
//   inputs, the numbers of its packed constants (none, or one for each packed
//   buffer), the number of its code, and its image without code
//   (vm/format/kernel_image_bytes.h).
#ifndef EMBER_VM_FORMAT_NATIVE_KERNELS_FORMAT_H_
#define EMBER_VM_FORMAT_NATIVE_KERNELS_FORMAT_H_

#include <cstdint>
#include <span>

#include "base/concat.h"
#include "base/status.h"
#include "vm/format/byte_stream.h"

namespace ember::vm {

inline constexpr uint32_t kNativeMagic = 0x4b4e4d45;  // the characters "EMNK"
// Version of the bytes of native sections. It is raised with every change of
// these bytes, of kernel_abi.h or of device_abi.h.
inline constexpr uint32_t kNativeVersion = 5;
// The oldest version that can be read. Version 2 has only kernels of CPUs,
// whose images have no KernelImage::iterations. Up to version 3 no phase has
// tensor maps. Up to version 4 tensor maps have no order of dims of their own
// (BoxMap::order).
inline constexpr uint32_t kOldestNativeVersion = 2;
// Number of bytes that the header (NativeHeader) takes in a section.
inline constexpr uint64_t kNativeHeaderBytes = 32;

// The header of a section. Its magic number and version are followed by the
// sizes of the three parts (vm/format/native_section.h).
struct NativeHeader {
  uint32_t version = kNativeVersion;
  uint64_t head_size = 0, code_size = 0, weights_size = 0;
};

inline void WriteNativeHeader(const NativeHeader& header, ByteWriter& writer) {
  writer.Number(kNativeMagic);
  writer.Number(header.version);
  for (const uint64_t size :
       {header.head_size, header.code_size, header.weights_size})
    writer.Number(size);
}

inline StatusOr<NativeHeader> ReadNativeHeader(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  const auto magic = reader.Number<uint32_t>();
  if (magic != kNativeMagic) {
    return DataLossError(
        Concat({"native section: expected 'EMNK', found ", magic}));
  }
  const auto version = reader.Number<uint32_t>();
  if (version < kOldestNativeVersion || version > kNativeVersion) {
    return UnimplementedError(Concat({"native section: expected version ",
                                      kNativeVersion, ", found ", version}));
  }
  NativeHeader header{.version = version};
  for (uint64_t* const size :
       {&header.head_size, &header.code_size, &header.weights_size})
    *size = reader.Number<uint64_t>();
  if (reader.ok() && header.head_size >= kNativeHeaderBytes) return header;
  return DataLossError("native section: expected its header, found the end");
}

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_NATIVE_KERNELS_FORMAT_H_
